import type { UploadHost } from '@penstock/engine'

/** The part of a job's host that knows no uploaded file. */
export const noUploads: UploadHost = {
  findUploads: async () => [],
  openUpload: async () => null,
  readUpload: async () => null,
}
