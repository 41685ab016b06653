/**
 * Every limit of the interface, with its unit last in its name. The schemas, the rules and the documents use these constants
 * and repeat no number. (Specification, section 8.)
 */
export const limits = {
  /** Values that identify a person, in one search for the person. */
  personValuesMax: 20,
  /** Minimum characters of such a value: a shorter value would match records of other people. */
  personValueLengthMin: 5,
  /** Maximum characters of such a value. */
  personValueLengthMax: 320,
  /** Kept records that one call of the search for a person checks. */
  personRecordsMax: 5_000,
  /** Characters of a name of an account or a connection, after trimming. */
  nameLengthMax: 200,
  /** Characters of the `q` filter. */
  filterLengthMax: 200,
  /** Events of the audit log that one call verifies. */
  auditVerifiedMax: 5_000,
  /** Characters of one text value in a configuration. */
  textLengthMax: 10_000,
  /** Characters of one secret value: enough for a service account key or a private key. */
  secretLengthMax: 65_536,
  /** Characters of a secret's name in the secret store. */
  secretNameLengthMax: 200,
  /** Characters of a field key in a configuration object. */
  fieldKeyLengthMax: 100,
  /** Entries of a Multi-Select value. */
  selectedOptionsMax: 100,
  /** Keys of one configuration object. */
  configurationFieldsMax: 100,
  /** Configurations of one connector in a sub-account. */
  configurationsOfConnectorMax: 50,
  /** Connectors named in one Add Connector call. */
  connectorIdsMax: 500,
  /** Entries in one page of a list. */
  pageSizeMin: 1,
  pageSizeDefault: 50,
  pageSizeMax: 500,
  /** Offset in a list. */
  offsetMax: 2_147_483_647,
  /** Bytes of a request body. */
  bodyBytesMax: 1_048_576,
  /** Maximum errors named in one refusal. A body can contain more errors. */
  fieldErrorsMax: 100,
  /** Characters of the field that an error names. A caller can invent longer fields. */
  errorFieldLengthMax: 200,
  /** Characters of client credentials in a token request. */
  credentialLengthMax: 500,
  /** Characters of an Idempotency-Key. */
  idempotencyKeyLengthMax: 255,
  /** Hours during which a repeated Idempotency-Key is answered with the first answer. */
  idempotencyWindowHours: 24,
  /** Minutes during which an authorization can be completed, from the link to the consent. */
  authorizationMinutes: 10,
  /** Days during which a deleted connection can be restored, and an operator can restore a deleted account. */
  restoreWindowDays: 30,
  /** Identifiers named in one filter of a list. */
  filteredIdsMax: 100,
  /** Saved filters of a person, and shared ones of an organization. */
  savedFiltersMax: 100,
  /** Characters of the query of a saved filter. */
  savedFilterLengthMax: 3_000,
  /** Mapping templates of an organization and of one sub-account, and columns to which a template is applied. */
  mappingTemplatesMax: 1_000,
  mappingTemplatesOfAccountMax: 100,
  templateColumnsMax: 2_000,
  /** Tags of one connection. */
  tagsMax: 20,
  /** Characters of a tag. */
  tagLengthMax: 50,
  /** Events of one connection that are kept: the newest. */
  connectionEventsMax: 1_000,
  /** Records that a preview reads. */
  previewRowsMax: 100,
  /** Records that a test transfer sends. */
  testRowsMax: 1_000,
  /** Days of a backfill: about 20 years. */
  backfillDaysMax: 7_305,
  /** Lines of the log of an attempt that are kept, attempts of a transfer, and characters of a line. */
  transferLogLinesMax: 300,
  transferLogAttemptsMax: 10,
  transferLogTextLengthMax: 500,
  /** Columns of a side that are kept to compare them with the columns of the next transfer. */
  shapeColumnsMax: 1_000,
  /** Changed columns that a transfer lists. */
  columnChangesMax: 100,
  /** Tables of a connection whose changed columns are listed, and characters of the name of a table. */
  driftTablesMax: 100,
  tableNameLengthMax: 600,
  /** Rules of one connection, accepted values of one rule, and characters of such a value. */
  rulesMax: 50,
  ruleValuesMax: 1_000,
  ruleValueLengthMax: 200,
  /** Windows of the blackout of one connection. */
  blackoutWindowsMax: 20,
  /** Connections after which a connection runs. */
  runAfterMax: 20,
  /** Consent purposes of a sub-account, and the columns and values of each. */
  purposesMax: 20,
  purposeSignalsMax: 10,
  purposeValuesMax: 50,
  purposeNameLengthMax: 60,
  /** Groups of a sub-account, and concurrent transfers of a group. */
  transferGroupsMax: 100,
  groupTransfersMax: 1_000,
  /** Write keys of one stream of events. */
  streamKeysMax: 2,
  /** Columns of an event stream. Values of further columns are only in the whole event. */
  streamColumnsMax: 1_000,
  /** Newest events that a stream shows, and characters of each. */
  streamEventsShownMax: 100,
  streamEventLengthMax: 4_000,
  /** Triggers of one connection, and requests a minute that a trigger accepts from all callers together. */
  triggersMax: 20,
  triggerRequestsPerMinute: 60,
  /** Values that the rules of a transfer compare with each other, since they keep a hash of each. */
  ruleUniqueRowsMax: 250_000,
  /** Records that must be read before a share of them stops a running transfer. */
  ruleShareRowsMin: 1_000,
  /** Number of earlier transfers whose median is the usual number of records, and the minimum number. */
  ruleTransfers: 10,
  ruleTransfersMin: 3,
  /** Characters of the name or the type of a column that is kept. */
  shapeTextLengthMax: 200,
  /** Findings about the destination that a preview returns. */
  previewFindingsMax: 100,
  /** Expressions of a mapping that a preview tries. */
  previewExpressionsMax: 50,
  /** Values of one page of a discovery. */
  discoverySizeMax: 200,
  discoverySizeDefault: 50,
  /** Characters of a discovered value, and of its label. */
  discoveredLengthMax: 1_000,
  discoveryCursorLengthMax: 1_000,
  /** Values of one discovered column. */
  discoverySamplesMax: 3,
  /** Characters of a text to search values for. */
  discoverySearchLengthMax: 1_000,
  /** Bytes of an answer to one request of a source that are shown. */
  answerBytesMax: 256 * 1024,
  /** Characters of the cursor of such a request. */
  askPageLengthMax: 4_000,
  /** Rows that a person tries at a destination at once, their columns, and the length of a value, in characters. */
  triedRowsMax: 3,
  triedColumnsMax: 500,
  triedValueLengthMax: 20_000,
  /** Characters that are shown of a value of a rejected record. */
  rejectValueLengthMax: 1_000,
  /** Rejected records of a transfer that a search checks: the first ones. */
  rejectsSearchedMax: 10_000,
  /** Rejected records that one call corrects, columns of each record, and characters of a value and of a whole record. */
  rejectEditsMax: 100,
  rejectEditColumnsMax: 500,
  rejectEditLengthMax: 10_000,
  rejectEditedLengthMax: 262_144,
  /** Characters of a cron expression, and of the name of a time zone. */
  cronLengthMax: 200,
  timezoneLengthMax: 100,
  /** Days that one report covers. */
  reportDaysMax: 400,
  /** Requests of one client in a minute, in each process, unless the operator chose otherwise. */
  requestsPerMinuteDefault: 6_000,
  /** Open HTTP connections of one process, and of one address in one process, unless the operator chose otherwise. */
  httpConnectionsDefault: 10_000,
  httpConnectionsPerAddressDefault: 512,
  /** Quotas of resources that are not deleted, unless the operator chose otherwise. */
  accountsPerOrganizationDefault: 10_000,
  connectionsPerAccountDefault: 1_000,
  enabledSchedulesPerOrganizationDefault: 10_000,
  /** Multiple of a quota that limits the total with deleted resources that are not yet permanently removed. */
  quotaFactorWithDeleted: 10,
  /** Seconds that an access token lives unless the operator chose otherwise. */
  tokenLifetimeSecondsDefault: 86_400,
  /** Sub-accounts to which one credential can be limited. */
  grantedAccountsMax: 1_000,
  /**
   * Client credentials of an organization that are not revoked, and how many of them can be limited to one sub-account (or to
   * several that include it).
   */
  clientsMax: 1_000,
  clientsOfAccountMax: 100,
  /** Hours for which the secret before a rotation is accepted. */
  rotationOverlapHoursDefault: 24,
  rotationOverlapHoursMax: 720,
  /** Seconds that a session token lives. */
  sessionSecondsMin: 60,
  sessionSecondsDefault: 3_600,
  sessionSecondsMax: 86_400,
  /** Characters of an e-mail address (RFC 5321). */
  emailLengthMax: 254,
  /** Characters of a password. */
  passwordLengthMin: 12,
  passwordLengthMax: 200,
  /**
   * People of an organization, including invited people, and how many of them can be limited to one sub-account (or to several
   * that include it).
   */
  usersMax: 10_000,
  usersOfAccountMax: 1_000,
  /** Groups of an organization that its identity provider has created by SCIM, and memberships of all of them. */
  userGroupsMax: 500,
  userGroupMembershipsMax: 50_000,
  /** Days that the session of a person lasts without use, and in all. */
  userSessionIdleDays: 14,
  userSessionDaysMax: 30,
  /** Sessions of one person. A further session ends the oldest one. */
  userSessionsMax: 100,
  /** Days that the link of an invitation is valid. */
  invitationDays: 7,
  /** Minutes that a link to reset a password is valid. */
  passwordResetMinutes: 60,
  /** Links to reset a password of one person that can be valid at the same time. */
  passwordResetsMax: 5,
  /** Passkeys of one person. */
  passkeysMax: 50,
  /** Minutes that the challenge of a passkey is valid. */
  passkeyChallengeMinutes: 5,
  /** Characters of the identifier of a credential (WebAuthn: 1,023 bytes), and of one value in the answer of an authenticator. */
  credentialIdLengthMax: 1_364,
  passkeyAnswerLengthMax: 16_384,
  /** Minutes within which a sign-in with the identity provider of an organization must be completed. */
  singleSignOnMinutes: 10,
  /** Webhooks of an organization, and how many of them can receive the same events: of one sub-account, or of all. */
  webhooksMax: 1_000,
  webhooksOfSameMax: 100,
  /** Characters of the address of a webhook, and of its description. */
  webhookUrlLengthMax: 2_000,
  webhookDescriptionLengthMax: 500,
  /** Hours for which the delivery of an event is retried. */
  webhookRetryHours: 72,
  /** Days of failures after which a webhook is disabled. */
  webhookFailureDays: 7,
  /** Days for which events and their deliveries are kept. */
  eventDays: 30,
  /** Deliveries that are queued again with one request. */
  webhookReplayMax: 10_000,
  /** Attempts of one delivery that are kept: the newest. */
  webhookAttemptsMax: 50,
  /** Connectors that one connect link configures. */
  connectLinkConnectorsMax: 10,
  /** Seconds within which a connect link can be opened. */
  connectLinkSecondsMin: 60,
  connectLinkSecondsDefault: 3_600,
  connectLinkSecondsMax: 604_800,
  /** Minutes that the page of an opened connect link can be used. */
  connectPageMinutes: 60,
  /** Connect links of an organization, and of one sub-account, that can still be used. */
  connectLinksMax: 10_000,
  connectLinksOfAccountMax: 1_000,
  /** Days for which a connect link that has ended is kept. */
  connectLinkKeptDays: 30,
  /** How long client credentials stay after they were revoked, for the operator. */
  revokedClientDays: 90,
  /** Characters of a redirect URL. */
  redirectUrlLengthMax: 2_000,
  /** Origins whose pages can embed the pages of connect links. */
  embeddingOriginsMax: 20,
  /** Bytes of a logo, and pixels of each of its sides. */
  logoBytesMax: 65_536,
  logoPixelsMax: 1_024,
  /** Alert rules of an organization and of one sub-account, and the connections and addresses that a rule names. */
  alertRulesMax: 1_000,
  alertRulesOfAccountMax: 100,
  alertConnectionsMax: 100,
  alertEmailsMax: 20,
  /** Characters of the address of a webhook at Slack or Teams. */
  alertUrlLengthMax: 2_000,
  /** From this size on, the log that a server keeps for a connection needs attention, in bytes: 10 GiB. */
  logKeptBytes: 10 * 1024 ** 3,
  /** Days for which the messages of a rule can be muted. */
  alertMuteDaysMax: 30,
  /** Messages of a rule that can be sent in a row, and the minutes until a further one is allowed. */
  alertMessagesAtOnce: 6,
  alertMessageMinutes: 10,
  /** Test messages of a rule in an hour. */
  alertTestsPerHour: 10,
  /** Hours for which a message is retried. */
  alertDeliveryHours: 24,
  /** Characters of the name of an uploaded file. */
  uploadNameLengthMax: 200,
  /**
   * MiB of one uploaded file and of all files of a sub-account, unless the operator chose other limits; files of a sub-account.
   */
  uploadMbDefault: 100,
  uploadsMbDefault: 1_024,
  uploadsMax: 1_000,
  /** Uploaded files of an organization, and their MiB, unless the operator chose otherwise. */
  uploadsOfOrganizationDefault: 10_000,
  uploadsOfOrganizationMbDefault: 10_240,
  /** MiB of the values of rejected records, of one transfer and of an organization, unless the operator chose otherwise. */
  rejectsOfTransferMbDefault: 32,
  rejectsOfOrganizationMbDefault: 10_240,
  /** Characters of the reason of a rejected record, and of a record whose values are not kept; characters of its shown values. */
  rejectReasonLengthMax: 2_000,
  rejectBareReasonLengthMax: 500,
  rejectShownLengthMax: 65_536,
  /** Characters of a rejected record with the names of its columns, and of all records of an answer, that are shown. */
  rejectNamedLengthMax: 131_072,
  rejectsAnswerLengthMax: 8 * 1024 ** 2,
  /** Rejected records of a transfer that are kept without values once the organization has reached its limit. */
  rejectsBeyondQuotaMax: 100,
  /** MiB of the digests of sent rows of an organization, unless the operator chose otherwise: 16 bytes for a row. */
  digestsOfOrganizationMbDefault: 20_480,
  /** Ended transfers of a connection that are kept regardless of their age: the newest. */
  transfersKeptMin: 100,
  /** Samples of one organization: each has a separate database. */
  samplesPerOrganization: 20,
  /** Hours for which an uploaded file is kept, unless the operator chose otherwise. */
  uploadHoursDefault: 24,
  uploadHoursMax: 720,
  /** Minutes within which an upload must be completed. */
  uploadMinutesMax: 60,
  /** Days for which incidents are kept once they are resolved, and messages once they are written. */
  alertIncidentDays: 90,
  alertDeliveryDays: 30,
  /** The last valid second of a timestamp: the end of the year 9999. */
  unixSecondsMax: 253_402_300_799,
} as const
