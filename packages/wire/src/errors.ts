/**
 * Every error code of the API: its HTTP status, its message, and its description in `docs/errors.md`. A rule can refuse a
 * request only with one of these codes. (Specification, section 7.)
 */
export type ErrorDefinition = {
  /** HTTP status, and the envelope's `statusCode`. */
  status: number
  /** The envelope's `statusMessage`: what happened and what to do next, in one plain sentence. */
  message: string
  /** When it occurs, for the documents. */
  when: string
}

export const errors = {
  invalid_request: {
    status: 400,
    message: 'Invalid request. Fix the fields listed in details and retry.',
    when: 'The request has a wrong shape, a wrong type, a value out of bounds, or a field that the operation does not have. `details` lists every field error.',
  },
  passkey_invalid: {
    status: 400,
    message: 'The passkey cannot be registered. Request new options and try again with this browser.',
    when: 'Register a Passkey with an answer for another challenge, session or service, with a challenge that was used or has expired, without verification of the user, or with a credential that is already registered.',
  },
  account_required: {
    status: 400,
    message: 'A sub-account is required. Send its identifier in the query parameter accountId.',
    when: 'The operation needs a sub-account, and `accountId` is missing.',
  },
  unauthorized: {
    status: 401,
    message:
      'A valid bearer token is required. Request one from POST /es/v2/oauth/client-token and send it as Authorization: Bearer <token>.',
    when: 'The bearer token is missing, malformed, unknown, expired or revoked, and the request has no valid session of a person. The response has the header `WWW-Authenticate: Bearer`.',
  },
  invalid_client: {
    status: 401,
    message: 'Unknown client credentials. Check clientId and clientSecret, or ask your operator for new ones.',
    when: 'A token was requested with credentials that do not exist or were revoked.',
  },
  sign_in_failed: {
    status: 401,
    message: 'Sign-in failed. Check the e-mail address and the password, or use another way to sign in.',
    when: 'Sign In with an unknown e-mail address or a wrong password, or Sign In with a Passkey with an unknown passkey or an invalid answer. The response is the same in all cases.',
  },
  wrong_password: {
    status: 403,
    message: 'The current password is wrong. Check it and retry.',
    when: 'Change Password without the current password, or with a wrong one.',
  },
  single_sign_on_required: {
    status: 403,
    message: 'Your organization requires single sign-on. Sign in with its identity provider.',
    when: 'A person who is not an owner uses a password or a passkey, and their organization requires single sign-on.',
  },
  second_factor_required: {
    status: 403,
    message:
      'Your organization requires a second factor. Sign in with your passkey or single sign-on. If you have neither, sign in with your password and register a passkey.',
    when: 'A person uses a password, their organization requires a second factor, and they have a passkey or have signed in with single sign-on before. Or a person who has neither calls another operation before they have registered a passkey.',
  },
  csrf_token_invalid: {
    status: 403,
    message: 'The request has no valid X-CSRF-Token. Read csrfToken from GET /es/v2/me and send it with the request.',
    when: 'A request that can change something is authenticated by a session cookie, and has no `X-CSRF-Token`, the token of another session, or comes from another site.',
  },
  forbidden: {
    status: 403,
    message: 'Your credentials do not allow this. See details for the missing scope, and ask for it.',
    when: 'The token, or the role of the person, does not have the required scope, is limited to sub-accounts although the operation concerns the whole organization, has limits although the operation changes how people sign in, or would grant permissions that it does not have. `details` names the missing permission.',
  },
  organization_account_not_allowed: {
    status: 403,
    message:
      'The organization account cannot have connectors or connections. Send the identifier of one of its sub-accounts in accountId.',
    when: '`accountId` is the organization account itself.',
  },
  not_found: {
    status: 404,
    message: 'Not found. Check the path, accountId and identifiers.',
    when: 'The path is unknown, an identifier is malformed, or the resource does not exist, was removed, or belongs to another organization.',
  },
  link_invalid: {
    status: 404,
    message: 'This link is not valid. It was used, replaced or has expired. Ask for a new one.',
    when: 'A link is unknown, for someone else, was used, was replaced by a later one, was revoked, or has expired: an invitation, a link to reset a password, a connect link, or the `link` with which a person confirms a sign-in at the identity provider.',
  },
  method_not_allowed: {
    status: 405,
    message: 'Method not allowed. Use one of the methods in the Allow header.',
    when: 'The path exists, but does not support the method. The response has the header `Allow`.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time. Send the complete request again.',
    when: 'The client started a request and did not finish sending it.',
  },
  connector_in_use: {
    status: 409,
    message: 'The connector is used by connections. Delete the connections listed in details first.',
    when: 'Remove Connector while a connection that is not deleted uses the connector. `details` lists these connections.',
  },
  configuration_in_use: {
    status: 409,
    message: 'The configuration is used by connections. Delete the connections listed in details first.',
    when: 'Delete a Configuration while a connection that is not deleted uses it. `details` lists these connections.',
  },
  configuration_is_first: {
    status: 409,
    message:
      'The first configuration belongs to the connector. Change its values instead, or remove the connector with all its configurations.',
    when: 'Delete a Configuration with the first configuration of a connector, which is used if no configuration is named.',
  },
  configuration_exists: {
    status: 409,
    message: 'Another configuration of the connector has this name. Choose another name.',
    when: 'Create a Configuration, or Configure Connector, with the name of another configuration of the connector in the sub-account.',
  },
  configuration_busy: {
    status: 409,
    message:
      'A transfer of the connection is active and uses the current configurations. Wait until it has ended or cancel it, then retry.',
    when: 'Update Connection with another configuration of its source or destination while a transfer of the connection is active.',
  },
  configuration_deleted: {
    status: 409,
    message:
      'The configuration that the connection used was deleted. Create a new connection with another configuration.',
    when: 'Restore Connection when a configuration of its source or destination was deleted meanwhile.',
  },
  connector_not_added: {
    status: 409,
    message: 'The connector is not added to this sub-account. Add it first, then retry.',
    when: 'A request configures a connector, uses it in a connection or restores a connection that needs it, and the connector is not added to the sub-account.',
  },
  connection_not_ready: {
    status: 409,
    message: 'The connection is not ready to move data. Complete the items listed in details, then retry.',
    when: 'A connection would become or stay active although its source or destination is not configured, a required value is missing or would be cleared, or another mirror writes to the same table.',
  },
  connection_deleted: {
    status: 409,
    message:
      'The connection is deleted. Restore it first. You can restore a connection for 30 days after its deletion.',
    when: 'Any operation except Get, List and Restore on a deleted connection.',
  },
  connection_not_deleted: {
    status: 409,
    message: 'The connection is not deleted. There is nothing to restore.',
    when: 'Restore of a connection that is not deleted.',
  },
  connection_not_active: {
    status: 409,
    message: 'The connection is not active. Activate it first, then retry.',
    when: 'A transfer is requested for a connection whose status is not `active`.',
  },
  account_disabled: {
    status: 409,
    message: 'The sub-account is disabled. Enable it first, then retry.',
    when: 'A transfer is requested in a disabled sub-account.',
  },
  transfer_active: {
    status: 409,
    message:
      'Another transfer of the connection is active. A test and another transfer cannot run concurrently. Wait until it has ended or cancel it, then retry.',
    when: 'A test is requested while another transfer of the connection is active, or a transfer while a test is active.',
  },
  transfer_blacked_out: {
    status: 409,
    message:
      'No transfer of the connection starts during its blackout. See details for the end of the blackout, then retry.',
    when: 'A transfer is requested during the blackout of the connection.',
  },
  transfer_ended: {
    status: 409,
    message: 'The transfer has already ended. There is nothing to cancel.',
    when: 'Cancel of a transfer that has succeeded, is partial, or has failed.',
  },
  nothing_to_retry: {
    status: 409,
    message: 'The parts of this transfer cannot be retried. See details for the reason, and start a new transfer.',
    when: 'Retry of a transfer without failed parts, after a later transfer was started, or with parts that cannot continue.',
  },
  nothing_to_replay: {
    status: 409,
    message:
      'This transfer has no rejected records to replay. See details for the reason. If records are missing at the destination, start a new transfer.',
    when: 'Replay of a transfer that has not ended or has no rejected records, or whose rejected records were not kept or were delivered by earlier replays.',
  },
  connector_not_configured: {
    status: 409,
    message: 'The connector is not configured in this sub-account. Save its configuration first, then retry.',
    when: 'Check Connector before the connector has been configured.',
  },
  authorization_not_available: {
    status: 409,
    message:
      'The operator has not registered an app with this platform. Ask your operator to do so (see details), or save your own credentials in the connector.',
    when: 'Authorize Connector while no app is registered with the platform of the connector (the command `oauth-app set` of Penstock).',
  },
  quota_exceeded: {
    status: 409,
    message:
      'Quota exceeded. Delete resources that you no longer need, or ask your operator to raise the setting named in details.',
    when: 'A limit of the organization or the sub-account is reached. This applies to creating sub-accounts, connections, client credentials, people, connect links, alert rules and webhooks, enabling a schedule, uploading a file, and starting a transfer when the rows of this month are used up. `details` names the quota and its setting. Deleted accounts and connections do not count, unless the total with them is ten times the quota.',
  },
  client_revoked: {
    status: 409,
    message: 'These client credentials are revoked. Create new ones.',
    when: 'Rename or Rotate of client credentials that were revoked.',
  },
  user_exists: {
    status: 409,
    message:
      'Your organization already has a person with this e-mail address. Change their role, or invite them again.',
    when: 'Invite User, or Accept Invitation, with the e-mail address of a person in the organization.',
  },
  user_joined: {
    status: 409,
    message:
      'This person has accepted the invitation, or is deactivated. If they cannot sign in, they can request a new password. Activate deactivated people at the identity provider.',
    when: 'Resend Invitation to a person who has accepted the invitation, or is deactivated.',
  },
  last_owner: {
    status: 409,
    message: 'This is the last owner of the organization. Make another person an owner first.',
    when: 'Update User or Remove User would leave an organization without an owner who has accepted the invitation.',
  },
  second_factor_missing: {
    status: 409,
    message:
      'You need a second factor before you can require it. Register a passkey, or set up single sign-on, sign in with it, and try again.',
    when: 'Set Sign-in Rules with `secondFactorRequired`, by a person who has signed in with a password, or by client credentials if no owner has a passkey or has signed in with single sign-on.',
  },
  last_credential: {
    status: 409,
    message: 'This is your only way to sign in. Set a password or register another passkey first.',
    when: 'Remove a Passkey if the person could not sign in without it.',
  },
  organization_required: {
    status: 409,
    message: 'This e-mail address and password are in several organizations. Send organizationId to name one.',
    when: 'Sign In without `organizationId`, with an e-mail address and a password that are valid in several organizations. `details` lists them.',
  },
  alert_rule_without_channel: {
    status: 409,
    message: 'The alert rule sends no messages. Add an e-mail address, people by their role, Slack or Teams first.',
    when: 'Test an Alert Rule that has no channel, or only e-mail, and the operator has not set up mail or nobody has the roles.',
  },
  not_editable: {
    status: 409,
    message: 'This resource belongs to another environment. Change it there.',
    when: 'A write to an account, connector or connection whose `env` is not the one of this deployment.',
  },
  stored_value_unreadable: {
    status: 409,
    message: 'A sealed value cannot be opened. Ask your operator to restore it from a backup, or enter it again.',
    when: 'A sealed value of the database was altered, moved or truncated, is not sealed, or its key is unknown. The service does not use it.',
  },
  precondition_failed: {
    status: 412,
    message: 'The resource was modified since you read it. Read it again and retry with the new ETag in If-Match.',
    when: 'A write had an `If-Match` header with an ETag that is no longer current.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is larger than 1 MiB, or the file is larger than the size in details. Send smaller requests.',
    when: 'The request body exceeds 1,048,576 bytes, or an uploaded file exceeds the limit of the operator, which is in `details`.',
  },
  unsupported_media_type: {
    status: 415,
    message:
      'The body must be JSON in UTF-8, with Content-Type: application/json. To upload a file, send its bytes with Content-Type: application/octet-stream.',
    when: 'The body has another content type, character set or content encoding.',
  },
  connectors_incompatible: {
    status: 422,
    message: 'These connectors cannot be paired. GET /es/v2/connectors/supported lists the compatible ones.',
    when: 'Create a Connection with a source and a destination whose roles or categories are not compatible. `details` contains the reasons.',
  },
  connector_immutable: {
    status: 422,
    message: 'The source and the destination of a connection cannot be changed. Create a new connection instead.',
    when: 'Update Connection with another source or destination connector.',
  },
  transfer_not_supported: {
    status: 422,
    message:
      'This deployment cannot move data between these connectors yet. See details for the connector that is not supported.',
    when: 'A transfer, a preview or a schedule is requested for a connection with a connector that is not `integrated` in its role.',
  },
  backfill_not_supported: {
    status: 422,
    message: 'A backfill of this connection is not possible. See details for the reason and what to change.',
    when: 'A backfill is requested for a source that cannot read a range or needs another setting for it, or for a destination that replaces everything with the records of each transfer.',
  },
  test_not_supported: {
    status: 422,
    message:
      'A test would replace everything at the destination with a few records. Change the setting named in details, or start a normal transfer.',
    when: 'A test is requested for a connection whose destination replaces everything with the records of each transfer.',
  },
  platform_refused: {
    status: 422,
    message: 'The data could not be read or converted. See details for the reason and what to do.',
    when: 'Preview Connection if the source or its platform refuses or does not answer, or if the columns cannot be mapped. Discover Values if the platform refuses or does not answer.',
  },
  provider_refused: {
    status: 422,
    message: 'The identity provider cannot be used, and nothing was saved. See details for the reason and what to do.',
    when: 'Set Single Sign-on with an issuer that cannot be reached, that the network policy does not allow, or that does not return the configuration of an OpenID Connect provider.',
  },
  check_not_supported: {
    status: 422,
    message: 'This deployment cannot check this connector, because it cannot move data through it yet.',
    when: 'Check Connector of a connector that is not `integrated`.',
  },
  discovery_not_supported: {
    status: 422,
    message: 'Values of this setting cannot be listed. Enter the value.',
    when: 'Discover Values for a setting that is not in `discover` of the role, in the definition of the connector.',
  },
  asking_not_supported: {
    status: 422,
    message: 'This connector does not support single requests. Preview a connection instead.',
    when: 'Ask Source without `asks` in the definition of the source, Try Destination without `tries` in that of the destination.',
  },
  authorization_not_supported: {
    status: 422,
    message: 'This connector cannot be authorized with a click. Save its credentials in its configuration instead.',
    when: 'Authorize Connector of a connector whose definition has no `authorization`.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for another request. Use a new key for a new request.',
    when: 'The same `Idempotency-Key` was sent with another operation, query or body within 24 hours.',
  },
  too_slow: {
    status: 422,
    message: 'The database needed more than 30 seconds. Ask for less, such as fewer days or a smaller offset.',
    when: 'A statement of the request took the database longer than 30 seconds: the request reads a large part of millions of entries, or the database is busy. Nothing was changed.',
  },
  answer_too_large: {
    status: 422,
    message: 'The answer would have more than 32 MiB. Request a smaller page.',
    when: 'The entries of the page have more than 32 MiB, such as 500 connections with the longest settings. Request fewer entries with `size`.',
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests. Wait for the seconds in Retry-After, then retry.',
    when: 'The client sent more requests than the operator allows, too many token requests failed, or the requests of your organization occupied all connections to the database that it can use for 10 seconds. The response has the header `Retry-After`.',
  },
  too_many_connections: {
    status: 429,
    message:
      'Too many connections from your address. Reuse open ones, or wait for the seconds in Retry-After and retry.',
    when: 'A client opens more network connections from one address than the operator allows. The response has the header `Retry-After`.',
  },
  headers_too_large: {
    status: 431,
    message: 'The request headers are too large. Send fewer or shorter headers.',
    when: 'The headers of the request exceed 16 KiB.',
  },
  internal: {
    status: 500,
    message: 'Internal error. Nothing was changed. Report the requestId to your operator.',
    when: 'A defect of this service. No request should cause it.',
  },
  overloaded: {
    status: 503,
    message: 'The service has too many open connections or files. Wait for the seconds in Retry-After, then retry.',
    when: 'The process has reached its limit of connections, or the limit of open files of the operating system. The response has the header `Retry-After`.',
  },
  topic_unavailable: {
    status: 503,
    message:
      'Apache Kafka did not acknowledge the events. Wait for the seconds in Retry-After, then send them again. Check the configuration of the stream if this persists.',
    when: 'A stream stores its events in Apache Kafka, and the brokers cannot be reached, do not answer in time, or refuse the user or the topic. Some of the events can be on the topic. The response has the header `Retry-After`.',
  },
  sample_not_available: {
    status: 409,
    message:
      'This deployment cannot store sample data. Use your own database, or ask your operator to run the service on its embedded PostgreSQL.',
    when: 'Sample data needs the embedded PostgreSQL, and a network policy that allows private addresses. `details` names what is missing.',
  },
  connector_unavailable: {
    status: 503,
    message: 'The service has no definition of a connector that an operator added. Ask your operator to add it again.',
    when: 'The database was created by a version that did not store definitions of added connectors, and no machine has the connector. `details` names it. The response has the header `Retry-After`.',
  },
  unavailable: {
    status: 503,
    message: 'The service cannot reach its database. Wait for the seconds in Retry-After, then retry.',
    when: 'The database is not available, or the service is starting or stopping. The response has the header `Retry-After`.',
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof errors
