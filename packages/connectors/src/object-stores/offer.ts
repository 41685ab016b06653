import type { FileOffer, StoreScheme } from '@penstock/connector'
import { type FormOptions, formOfFile, type StoredFile } from '@penstock/connector/files'
import { fileStoreOf, findFiles, type ObjectStore } from './object-store.ts'
import type { BucketPlace } from './place.ts'

/** Files whose state is checked concurrently. */
const askedMax = 8

/** Offers the files of a path, in the order of their names. Throws `object_not_found` if there are no files. */
export async function offerFiles(
  store: ObjectStore,
  { scheme, bucket, path }: BucketPlace & { readonly scheme: StoreScheme },
  options: FormOptions,
  signal: AbortSignal,
): Promise<FileOffer> {
  const found = await findFiles(store, path, options.format)
  const fileStore = fileStoreOf(store, path, options.format)
  return {
    scheme,
    bucket,
    files: found.sort((a, b) => (a.name < b.name ? -1 : 1)),
    formOf: (file) => formOfFile(fileStore, file, options, signal),
    async changedOf(files) {
      const left = [...files]
      const changed: StoredFile[] = []
      const work = async () => {
        for (let file = left.pop(); file && changed.length === 0; file = left.pop()) {
          const now = await store.find(file.name)
          if (now?.version !== file.version || now.sizeBytes !== file.sizeBytes) changed.push(file)
        }
      }
      await Promise.all(Array.from({ length: askedMax }, work))
      return changed[0]
    },
  }
}
