import {
  type AlertConditions,
  type AlertIncident,
  type AlertRule,
  alertConditionNames,
  secretMask,
} from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import { asksForMail, noMailServer } from './announce.ts'
import type { IncidentRow } from './incident-queries.ts'
import type { RuleRow } from './rule-queries.ts'
import { columnsOf } from './where.ts'

const optional = (time: Date | null) => time && unixSeconds(time)

/** The version of a rule. Its incidents and deliveries do not change it. */
export const etagOf = ({ version }: Pick<RuleRow, 'version'>): string => version

/** The conditions of a rule, of a row or of another object that has them among others. */
const conditionsOf = (row: AlertConditions) =>
  Object.fromEntries(alertConditionNames.map((name) => [name, row[name]])) as AlertConditions

/** @param mailIsSetUp whether e-mails can be sent */
export const viewRule = (row: RuleRow, mailIsSetUp: boolean): AlertRule => ({
  id: row.id,
  name: row.name,
  accountId: row.accountId,
  connectionIds: row.connectionIds,
  enabled: row.enabled,
  conditions: conditionsOf(row),
  emails: row.emails,
  emailRoles: row.emailRoles,
  slackUrl: row.slackSealed && secretMask,
  teamsUrl: row.teamsSealed && secretMask,
  mutedUntil: optional(row.mutedUntil),
  deliveryError: row.deliveryError ?? unsentOf(row, mailIsSetUp),
  openIncidents: row.openIncidents,
  createdTime: unixSeconds(row.createdTime),
  updatedTime: unixSeconds(row.updatedTime),
})

/** A rule that is on and sends emails shows if no mail can be sent, before the first incident. */
const unsentOf = (row: RuleRow, mailIsSetUp: boolean): AlertRule['deliveryError'] =>
  !mailIsSetUp && row.enabled && asksForMail(row)
    ? { channel: 'email', message: noMailServer, time: unixSeconds(row.updatedTime) }
    : null

const sides = { Source: 'source', Destination: 'destination' } as const

export const viewIncident = (row: IncidentRow): AlertIncident => ({
  id: row.id,
  ruleId: row.ruleId,
  ruleName: row.ruleName,
  accountId: row.accountId,
  accountName: row.accountName,
  connectionId: row.connectionId,
  connectionName: row.connectionName,
  reasons: row.reasons,
  numbers: row.numbers,
  transferId: row.transferId,
  errorCode: row.errorCode,
  errorSide: row.errorCode === null ? null : row.errorSide === null ? 'service' : sides[row.errorSide],
  table: row.tableName,
  columns: columnsOf(row),
  openedTime: unixSeconds(row.openedTime),
  resolvedTime: optional(row.resolvedTime),
  resolution: row.resolution,
  acknowledgedTime: optional(row.acknowledgedTime),
  acknowledgedBy: row.acknowledgedBy,
})
