import type { RejectHost, UploadHost } from '@penstock/engine'

/** The part of a job's host that knows no uploaded file and no rejected record. */
export const noUploads: UploadHost & RejectHost = {
  findRejecting: async () => [],
  readRejected: async () => null,
  findUploads: async () => [],
  openUpload: async () => null,
  readUpload: async () => null,
}
