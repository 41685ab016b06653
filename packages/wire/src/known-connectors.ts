/** Connectors that clients know by their identifiers, and the kinds of platforms. */

/** Kinds of platforms as people call them, such as a database. The types of the specification have other words; ours. */
export const platformKinds = [
  'database',
  'warehouse',
  'file store',
  'event stream',
  'customer platform',
  'advertising platform',
  'reports',
  'api',
  'own records',
] as const
export type PlatformKind = (typeof platformKinds)[number]

/** The connector that reads uploaded files: the identifier of its slug, `file-upload`. */
export const uploadedFileConnectorId = 'f6bb8ad8406905bd'
/** The connector that reads any HTTP API: the identifier of its slug, `http-api`. */
export const httpApiConnectorId = '2de4b8c4da2562b4'
/** The connector that posts rows to any HTTP API: the identifier of its slug, `webhook`. */
export const webhookConnectorId = 'ff10edda94d61422'
/** The connector that reads rejected records of other connections: the identifier of its slug, `rejected-records`. */
export const rejectedRecordsConnectorId = '4b2827a20e2560cd'
