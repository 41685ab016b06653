/**
 * Every error code of the interface: its HTTP status, the sentence a caller reads, and what `docs/errors.md` says of it.
 * A rule refuses with a code from here; there is no other way to say no. (Specification, section 7.)
 */
export type ErrorDefinition = {
  /** HTTP status, and the envelope's `statusCode`. */
  status: number
  /** The envelope's `statusMessage`: what happened and what to do, in one plain sentence. */
  message: string
  /** When it is answered, for the documents. */
  when: string
}

export const errors = {
  invalid_request: {
    status: 400,
    message: 'The request is not valid: mend the fields named in details and send it again.',
    when: 'The shape, a type or a bound is wrong, or the body has a field that the operation does not know. `details` lists every fault.',
  },
  account_required: {
    status: 400,
    message: 'Connectors and single connections live in a sub-account: name it in the query parameter accountId.',
    when: '`accountId` is missing where a connector or a single connection is meant.',
  },
  unauthorized: {
    status: 401,
    message:
      'A valid bearer token is needed: request one from POST /es/v2/oauth/client-token and send it as Authorization: Bearer <token>.',
    when: 'The bearer token is missing, malformed, unknown, expired or revoked. The reply carries `WWW-Authenticate: Bearer`.',
  },
  invalid_client: {
    status: 401,
    message:
      'These client credentials are not known: check clientId and clientSecret, or ask the operator for new ones.',
    when: 'A token was requested with credentials that do not exist or were revoked.',
  },
  organization_account_not_allowed: {
    status: 403,
    message:
      'Connectors and connections cannot live in the organization account: name one of its sub-accounts in accountId.',
    when: '`accountId` is the organization account itself.',
  },
  not_found: {
    status: 404,
    message: 'There is nothing here under that identifier: check the path, the accountId and the identifiers you sent.',
    when: 'The path is unknown, an identifier is malformed, or what it names does not exist, was removed, or belongs to another organization.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not take that method: use one of those in the Allow header.',
    when: 'The path exists, the method does not. The reply carries `Allow`.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time: send it again, whole.',
    when: 'The client opened a request and did not finish sending it.',
  },
  connector_in_use: {
    status: 409,
    message: 'A connection uses this connector: delete the connections that use it first, then remove it.',
    when: 'Remove Connector, while a connection that is not deleted uses the connector. `details` names such connections.',
  },
  connector_not_added: {
    status: 409,
    message: 'The connector is not added to this sub-account: add it first, then try again.',
    when: 'A connector of the catalogue is configured, used in a connection or needed by a restore, but is not in the sub-account.',
  },
  connection_not_ready: {
    status: 409,
    message: 'The connection is not ready to carry data: complete what details lists, then try again.',
    when: 'A connection would become or stay active although an end is not configured, or something that it requires is missing or would be cleared.',
  },
  connection_deleted: {
    status: 409,
    message: 'The connection is deleted: restore it first, which is possible for 30 days after its deletion.',
    when: 'Anything but Get, List and Restore is asked of a deleted connection.',
  },
  connection_not_deleted: {
    status: 409,
    message: 'The connection is not deleted, so there is nothing to restore.',
    when: 'Restore of a connection that is not deleted.',
  },
  connection_not_active: {
    status: 409,
    message: 'Only an active connection moves data: activate it first, then try again.',
    when: 'A transfer is asked of a connection whose status is not `active`.',
  },
  account_disabled: {
    status: 409,
    message: 'This sub-account is disabled, and no data moves in it: enable it first, then try again.',
    when: 'A transfer is asked in a disabled sub-account.',
  },
  transfer_ended: {
    status: 409,
    message: 'The transfer has ended already: there is nothing to cancel.',
    when: 'Cancel of a transfer that succeeded, was partial, or failed.',
  },
  nothing_to_replay: {
    status: 409,
    message:
      'This transfer keeps no rejected records that could be sent again: details says what became of them. Start a new transfer where records are missing at the destination.',
    when: 'Replay of a transfer that has not ended, or rejected nothing, or whose rejected records are not kept or were delivered by earlier replays.',
  },
  connector_not_configured: {
    status: 409,
    message: 'The connector is not configured in this sub-account: save its configuration first, then try again.',
    when: 'Check Connector before the connector has been configured.',
  },
  quota_exceeded: {
    status: 409,
    message:
      'The quota that details names is used up. Delete what you no longer need, or ask your operator to raise the setting.',
    when: 'Add Account, Create a Connection, or a schedule that becomes enabled, while there are as many as the quota allows. `details` names the quota and its setting. What is deleted counts only once there are ten times the quota, deleted ones included.',
  },
  not_editable: {
    status: 409,
    message: 'This was made in another environment and can be changed only there.',
    when: 'A write to an account, connector or connection whose `env` is not this deployment.',
  },
  precondition_failed: {
    status: 412,
    message:
      'It changed since you read it: read it again, apply your change to what it is now, and send the new ETag in If-Match.',
    when: 'A write carried `If-Match` with an ETag that is no longer current.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is larger than 1 MiB: send less at once.',
    when: 'The request body exceeds 1,048,576 bytes.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The body must be JSON in UTF-8: send it with Content-Type: application/json.',
    when: 'The body has another content type, character set or content encoding.',
  },
  connectors_incompatible: {
    status: 422,
    message: 'These two connectors cannot be paired: ask GET /es/v2/connectors/supported which ones fit.',
    when: 'Create a Connection with ends whose roles or categories do not fit. `details` says why.',
  },
  connector_immutable: {
    status: 422,
    message: 'The source and the destination of a connection never change: create a new connection for another pair.',
    when: 'Update Connection names another source or destination connector.',
  },
  transfer_not_supported: {
    status: 422,
    message: 'This deployment cannot move data between these two connectors: details names the end that cannot.',
    when: 'A transfer, a preview or a schedule is asked of a connection with an end whose connector is not `integrated`.',
  },
  platform_refused: {
    status: 422,
    message: 'The data could not be read or brought into form: details says why and what to do.',
    when: 'Preview Connection, where the source or its platform refuses, does not answer, or has columns that do not fit.',
  },
  check_not_supported: {
    status: 422,
    message: 'This deployment cannot check this connector, since it does not move data through it yet.',
    when: 'Check Connector of a connector that is not `integrated`.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for another request: use a new key for a new request.',
    when: 'The same `Idempotency-Key` came with another operation, query or body within 24 hours.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests: wait for the seconds in the Retry-After header, then go on.',
    when: 'The client sent more requests than the operator allows, or too many token requests failed. The reply carries `Retry-After`.',
  },
  too_many_connections: {
    status: 429,
    message:
      'Too many connections from your address. Reuse open ones, or wait for the seconds in Retry-After and retry.',
    when: 'A connection is opened while as many as the operator allows are open from the same address. The reply carries `Retry-After`.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request headers are too large: send fewer or shorter ones.',
    when: 'The headers of the request exceed 16 KiB.',
  },
  internal: {
    status: 500,
    message: 'The service met a fault of its own: nothing was changed; tell the operator the requestId.',
    when: 'A defect of the service. Nothing that a client sends leads here by design.',
  },
  overloaded: {
    status: 503,
    message:
      'The service has as many open connections or files as it can have. Wait for the seconds in Retry-After, then retry.',
    when: 'The process has reached its bound on connections, or the operating system lets it open no more files. The reply carries `Retry-After`.',
  },
  unavailable: {
    status: 503,
    message:
      'The service cannot reach its database at the moment: wait for the seconds in Retry-After, then send the same request again.',
    when: 'The database is away, or the service is starting or stopping. The reply carries `Retry-After`.',
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof errors

/** One fault of a request: where it is and what to do about it. */
export type Fault = {
  /** `body.name`, `query.size`, `body.secretConfig.apiToken`, `header.if-match` … */
  field: string
  message: string
}
