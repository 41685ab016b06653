import type { EventHost, RejectHost, UploadHost } from '@penstock/engine'

/** The part of a job's host that knows no uploaded file, no rejected record and no event. */
export const noUploads: UploadHost & RejectHost & EventHost = {
  openStream: async () => ({ id: '', last: 0, removed: 0, begin: 0, columns: [] }),
  readEvents: async () => [],
  findRejecting: async () => [],
  readRejected: async () => null,
  findUploads: async () => [],
  openUpload: async () => null,
  readUpload: async () => null,
}
