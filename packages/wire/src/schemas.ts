/**
 * The resources of the specification, section 2, key for key. The TypeScript type, the validation, the serialisation, the
 * OpenAPI document and the client derive from one schema.
 */
export * from './schemas/account.ts'
export * from './schemas/account-figures.ts'
export * from './schemas/alert.ts'
export * from './schemas/ask.ts'
export * from './schemas/attention.ts'
export { AudienceReport } from './schemas/audience.ts'
export * from './schemas/audit.ts'
export * from './schemas/client.ts'
export * from './schemas/configuration.ts'
export * from './schemas/connect-link.ts'
export * from './schemas/connection.ts'
export { Blackout, ConnectionRule, ConnectionRules, RuleResult, SetConnectionRules } from './schemas/connection-rule.ts'
export { ConnectionState, ResetConnectionState } from './schemas/connection-state.ts'
export * from './schemas/connection-table.ts'
export * from './schemas/connector.ts'
export * from './schemas/data-subject.ts'
export * from './schemas/definition.ts'
export * from './schemas/discovery.ts'
export { ColumnChange, Drift, SetDrift } from './schemas/drift.ts'
export * from './schemas/envelope.ts'
export { Identifier, identifier, identifierPattern, namePattern, oneOf } from './schemas/kinds.ts'
export { ConnectionLabels, ConnectionTag, SetConnectionLabels } from './schemas/labels.ts'
export * from './schemas/mapping-template.ts'
export * from './schemas/passkey.ts'
export * from './schemas/preview.ts'
export * from './schemas/purpose.ts'
export * from './schemas/reject.ts'
export * from './schemas/report.ts'
export {
  RunConditions,
  SetRunConditions,
  SetTransferGroups,
  TransferGroup,
  TransferGroups,
} from './schemas/run-conditions.ts'
export * from './schemas/sample.ts'
export * from './schemas/saved-filter.ts'
export * from './schemas/sign-in-rules.ts'
export * from './schemas/single-sign-on.ts'
export * from './schemas/stream.ts'
export * from './schemas/token.ts'
export * from './schemas/transfer.ts'
export * from './schemas/transfer-log.ts'
export * from './schemas/transfer-part.ts'
export * from './schemas/transfer-range.ts'
export * from './schemas/trigger.ts'
export * from './schemas/try.ts'
export * from './schemas/upload.ts'
export * from './schemas/user.ts'
export * from './schemas/webhook.ts'
