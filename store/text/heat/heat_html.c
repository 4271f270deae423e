#include "store/text/heat/heat_html.h"
#include "store/text/heat/heat_svg.h"

/* Three digits are as many as codes are worth. */
static int add_value(double n, struct buf *out)
{
	return n == 0 ? buf_add_byte(out, '0') : buf_printf(out, "%.3g", n);
}

/* A string of a script: quoted text has no control characters, and no < is to
 * be in it, which could end the script. */
static int add_string(const struct buf *text, struct buf *out)
{
	size_t i;
	int err = buf_add_byte(out, '"');

	for (i = 0; i < text->size && err == 0; i++) {
		uint8_t c = text->data[i];

		if (c == '\\' || c == '"' || c == '<' || c == '>' || c == '&')
			err = buf_printf(out, "\\x%02x", c);
		else
			err = buf_add_byte(out, c);
	}
	return err < 0 ? err : buf_add_byte(out, '"');
}

static int add_rows(const struct heat_picture *p, struct buf *out)
{
	struct buf text = BUF_INIT;
	size_t r;
	int err = buf_add_string(out, "const rows=[");

	for (r = 0; r < p->rows && err == 0; r++) {
		const struct heat_row *row = &p->row[r];

		buf_reset(&text);
		err = heat_add_key(row->start, 200, &text);
		if (err == 0)
			err = buf_add_string(&text, " to ");
		if (err == 0)
			err = heat_add_key(row->end, 200, &text);
		if (err == 0 && row->parts > 1)
			err = buf_printf(&text, ", part %u of %u", row->part,
					 row->parts);
		if (err == 0)
			err = add_string(&text, out);
		if (err == 0)
			err = buf_add_byte(out, ',');
	}
	buf_release(&text);
	return err < 0 ? err : buf_add_string(out, "];\n");
}

static int add_values(const struct heat_picture *p, struct buf *out)
{
	size_t i, count = p->rows * p->columns;
	int err = buf_add_string(out, "const values=[");

	for (i = 0; i < count && err == 0; i++) {
		err = add_value(p->values[i], out);
		if (err == 0)
			err = buf_add_byte(out, ',');
	}
	return err < 0 ? err
		       : buf_printf(out,
				    "];\nconst columns=%zu,from=%llu,"
				    "seconds=%llu,unit=\"%s\";\n",
				    p->columns, (unsigned long long)p->from_s,
				    (unsigned long long)p->column_s,
				    heat_unit(p->metric));
}

static const char style[] =
	"<style>:root{color-scheme:light dark}"
	"body{margin:0;background:#fff;color:#222;font:14px sans-serif}"
	"#heat{display:block;width:100vw;height:calc(100vh - 40px)}"
	"#cells{cursor:crosshair}"
	"nav{height:40px;padding:0 16px;display:flex;gap:8px;"
	"align-items:center}button{min-width:32px;height:28px}"
	"#tip{position:fixed;display:none;pointer-events:none;"
	"max-width:70vw;padding:6px 10px;border-radius:4px;"
	"background:#222;color:#fff;white-space:pre-wrap;"
	"overflow-wrap:anywhere}"
	"@media(prefers-color-scheme:dark){body{background:#16181c;"
	"color:#ddd}#tip{background:#eee;color:#111}}</style>\n";

/* view is the part of the cells that is shown: x, y, width, height. */
static const char script[] =
	"const heat=document.getElementById('heat'),"
	"cells=document.getElementById('cells'),"
	"tip=document.getElementById('tip'),"
	"all=[0,0,columns,Math.max(rows.length,1)];\n"
	"let view=all.slice(),drag=null;\n"
	"const box=['x','y','width','height'].map(n=>"
	"+cells.getAttribute(n));\n"
	"function time(c){return new Date((from+c*seconds)*1000)"
	".toISOString().slice(0,19)+'Z'}\n"
	"function number(n){for(const u of ['','k','M','G','T']){"
	"if(n<999.5)return +n.toPrecision(3)+u;n/=1000}return n+'P'}\n"
	/* Where an event is, in cells. */
	"function place(e){const m=heat.getScreenCTM().inverse(),"
	"q=new DOMPoint(e.clientX,e.clientY).matrixTransform(m);"
	"return [view[0]+(q.x-box[0])/box[2]*view[2],"
	"view[1]+(q.y-box[1])/box[3]*view[3]]}\n"
	"function show(){cells.setAttribute('viewBox',view.join(' '));"
	"for(const t of heat.querySelectorAll('.key')){"
	"const y=(t.dataset.row-view[1])/view[3];"
	"t.setAttribute('y',box[1]+y*box[3]+11);"
	"t.style.display=y<-1e-9||y>=1?'none':''}"
	"for(const t of heat.querySelectorAll('.time')){"
	"const x=(t.dataset.column-view[0])/view[2];"
	"t.setAttribute('x',box[0]+x*box[2]);"
	"t.style.display=x<-1e-9||x>.86?'none':''}}\n"
	"function clamp(){for(const i of [0,1]){"
	"view[i+2]=Math.min(view[i+2],all[i+2]);"
	"view[i]=Math.max(0,Math.min(view[i],all[i+2]-view[i+2]))}}\n"
	"function zoom(by,at){for(const i of [0,1]){"
	"const size=Math.max(2,Math.min(all[i+2],view[i+2]*by));"
	"view[i]=at[i]-(at[i]-view[i])*size/view[i+2];view[i+2]=size}"
	"clamp();show()}\n"
	"function middle(){return [view[0]+view[2]/2,view[1]+view[3]/2]}\n"
	"function reset(){view=all.slice();show()}\n"
	"cells.addEventListener('wheel',e=>{e.preventDefault();"
	"zoom(e.deltaY<0?.8:1.25,place(e))},{passive:false});\n"
	"cells.addEventListener('pointerdown',e=>{drag=place(e);"
	"cells.setPointerCapture(e.pointerId)});\n"
	"cells.addEventListener('pointerup',()=>drag=null);\n"
	/* Or text beside it is selected. */
	"cells.addEventListener('mousedown',e=>e.preventDefault());\n"
	"cells.addEventListener('dblclick',reset);\n"
	"heat.addEventListener('pointerleave',()=>"
	"tip.style.display='none');\n"
	"heat.addEventListener('pointermove',e=>{let q=place(e);"
	"if(drag){view[0]+=drag[0]-q[0];view[1]+=drag[1]-q[1];clamp();"
	"show();q=place(e)}"
	"const c=Math.floor(q[0]),r=Math.floor(q[1]);"
	"if(c<Math.max(0,view[0]|0)||c>=view[0]+view[2]||c>=columns||"
	"r<(view[1]|0)||r>=view[1]+view[3]||r>=rows.length||c<0||r<0){"
	"tip.style.display='none';return}"
	"tip.textContent=rows[r]+'\\n'+time(c)+' to '+time(c+1)+'\\n'+"
	"number(values[r*columns+c])+' '+unit;"
	"tip.style.display='block';"
	"const b=tip.getBoundingClientRect();"
	"tip.style.left=Math.max(0,Math.min(e.clientX+14,"
	"innerWidth-b.width-8))+'px';"
	"tip.style.top=(e.clientY+18+b.height<innerHeight?e.clientY+18:"
	"e.clientY-b.height-10)+'px'});\n"
	"for(const [id,f] of [['in',()=>zoom(.5,middle())],"
	"['out',()=>zoom(2,middle())],['all',reset]])"
	"document.getElementById(id).addEventListener('click',f);\n";

int heat_print_html(const struct heat_picture *p, struct bytes table,
		    struct buf *out)
{
	struct buf title = BUF_INIT;
	int err = heat_add_title(p, table, &title);

	if (err == 0)
		err = buf_add_string(out, "<!DOCTYPE html>\n<html lang=\"en\">"
					  "<meta charset=\"utf-8\">\n<title>");
	if (err == 0)
		err = heat_add_xml(buf_bytes(&title), out);
	if (err == 0)
		err = buf_printf(out, "</title>\n%s", style);
	if (err == 0)
		err = heat_print_svg(p, table, out);
	if (err == 0)
		err = buf_add_string(
			out, "<nav><button id=\"in\" title=\"zoom in\">+"
			     "</button><button id=\"out\" title=\"zoom out\">"
			     "\xe2\x88\x92</button><button id=\"all\">all"
			     "</button> wheel: zoom; drag: move; double click: "
			     "all</nav>\n<div id=\"tip\"></div>\n<script>\n");
	if (err == 0)
		err = add_rows(p, out);
	if (err == 0)
		err = add_values(p, out);
	if (err == 0)
		err = buf_printf(out, "%s</script>\n</html>\n", script);
	buf_release(&title);
	return err;
}
