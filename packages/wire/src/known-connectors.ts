/** Connectors that clients know by their identifiers, and the kinds of platforms. */

/** Common kinds of platforms, such as databases (not in the specification, whose types have other names). */
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
/** The connector that records outcomes of rows: the identifier of its slug, `outcomes`. */
export const outcomesConnectorId = '21eb6c7837555c09'
/** The connector that receives events: the identifier of its slug, `event-stream`. */
export const eventStreamConnectorId = '2a4dfebc8769bed8'
/** The connector that reads the topics of streams in Apache Kafka: the identifier of its slug, `kafka`. */
export const kafkaConnectorId = '23b7f4f2627bc4f1'
/** The connectors whose configurations are event streams: for any sender, and for one sender each. */
export const streamConnectorIds: readonly string[] = [
  eventStreamConnectorId,
  // adjust-callbacks
  'cf652da687b329eb',
  // appsflyer-push-api
  'c174d781031a84fc',
  // branch-webhooks
  'a55485c20578dee4',
  // google-ads-lead-forms
  '14f743cfae2e148e',
  // linkedin-lead-forms
  '0eb655b39f189694',
  // meta-lead-forms
  '926eba6d435e9de1',
  // mparticle-audience
  '9035ed797870ffbb',
  // radar-geo-events
  '4d016544e23a45e8',
  // tiktok-lead-forms
  '1e5faa4868965c05',
]
/** Whether a source is a stream, which a connection can read continuously. */
export const receivesEvents = (connectorId: string): boolean =>
  streamConnectorIds.includes(connectorId) || connectorId === outcomesConnectorId
