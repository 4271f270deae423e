#include "store/engine/compact/read_back.h"
#include "store/engine/files/manifest_name.h"
#include "store/format/sst/sst_read_back.h"

int compact_open(struct volume *v, uint64_t id, uint64_t *size,
		 struct sst **out)
{
	char name[VOLUME_NAME_MAX + 1];
	struct reader *reader;
	int err;

	manifest_name(id, "sst", name);
	err = v->ops->open(v, name, &reader);
	if (err < 0)
		return err;
	*size = reader->size;
	err = sst_open(reader, NULL, id, out);
	if (err < 0)
		v->ops->reader_close(reader);
	return err;
}

int compact_read_back(struct volume *v, uint64_t id, uint64_t digest,
		      uint64_t *size)
{
	struct sst *sst;
	int err = compact_open(v, id, size, &sst);

	if (err < 0)
		return err;
	err = sst_read_back(sst, digest);
	sst_close(sst);
	return err;
}
