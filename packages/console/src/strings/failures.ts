import type { ErrorCode } from '@penstock/wire'

/** Messages for people, for errors whose message in the API speaks of requests. */
const messages: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'Some values are not valid. Correct them and try again.',
  unauthorized: 'Your session has ended. Sign in again.',
  invalid_client:
    'Unknown client credentials. Check the client ID and the client secret, or ask your operator for new ones.',
  csrf_token_invalid: 'Your session has changed. Reload the page and try again.',
  organization_account_not_allowed: 'The organization has no connectors or connections of its own. Open a sub-account.',
  not_found: 'This was deleted, or you do not have access to it.',
  connector_in_use: 'Connections use this connector. Delete these connections first.',
  configuration_in_use: 'Connections use this configuration. Delete these connections first.',
  connection_not_ready: 'The connection is not ready to move data. Complete the following, then try again.',
  transfer_blacked_out: 'Transfers of this connection do not start in its quiet hours.',
  nothing_to_retry: 'The parts of this transfer cannot be retried. Start a new transfer.',
  nothing_to_replay:
    'This transfer has no rejected records to send again. If records are missing at the destination, start a new transfer.',
  authorization_not_available:
    'The operator has not registered an app with this platform. Ask your operator to do so, or enter your own credentials.',
  quota_exceeded: 'You have reached a limit. Delete what you no longer need, or ask your operator to raise the limit.',
  organization_required: 'You sign in to several organizations with this e-mail address and password. Choose one.',
  precondition_failed: 'Someone else changed this in the meantime. Reload the page and try again.',
  payload_too_large: 'The file is too large.',
  connectors_incompatible: 'These connectors cannot be paired.',
  transfer_not_supported: 'This deployment cannot move data between these connectors yet.',
  backfill_not_supported: 'A backfill of this connection is not possible.',
  test_not_supported:
    'A test would replace everything at the destination with a few records. Start a transfer instead.',
  platform_refused: 'The data could not be read or converted.',
  provider_refused: 'The identity provider cannot be used, and nothing was saved.',
  idempotency_key_reused: 'This was already sent. Reload the page to see the result.',
  answer_too_large: 'The page would be larger than 32 MiB. Show fewer entries.',
  rate_limited: 'Too many requests. Wait a moment, then try again.',
  too_many_connections: 'Too many connections from your address. Wait a moment, then try again.',
  internal: 'An internal error occurred, and nothing was changed. Report the request below to your operator.',
  overloaded: 'The service is overloaded. Wait a moment, then try again.',
  unavailable: 'The service cannot reach its database. Wait a moment, then try again.',
}

/** The texts of errors, and the names of fields that the forms of connectors do not define. */
export const failures = {
  /** @param ofApi the message of the API */
  message: (code: string, ofApi = ''): string =>
    (Object.hasOwn(messages, code) && messages[code as ErrorCode]) || ofApi,

  /** Names of fields of requests, if their words are not their label. */
  names: {
    accountId: 'Sub-account',
    accountIds: 'Sub-accounts',
    colours: 'Colour',
    cron: 'Cron expression',
    email: 'E-mail address',
    emailDomains: 'E-mail domains',
    destConfigurationId: 'Configuration of the destination',
    destConnectorId: 'Destination',
    endDate: 'Last day',
    expiresTime: 'Expiry',
    organizationId: 'Organization ID',
    ownerEmail: 'Owner',
    q: 'Search',
    srcConfigurationId: 'Configuration of the source',
    srcConnectorId: 'Source',
    startDate: 'First day',
    timezone: 'Time zone',
  } as Readonly<Record<string, string>>,

  /** The subject of a message that continues the name of no field. */
  subjects: {
    body: 'The request',
    connector: 'The connector',
    destConnectionConfig: 'The destination',
    destConnector: 'The destination',
    id: 'It',
    srcConnectionConfig: 'The source',
    srcConnector: 'The source',
    transferId: 'The transfer',
  } as Readonly<Record<string, string>>,
}
