import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { optionalId, page, q, yes } from '../parameters.ts'
import {
  AlertIncident,
  AlertRule,
  AlertTest,
  CreateAlertRule,
  Done,
  MuteAlertRule,
  UpdateAlertRule,
} from '../schemas.ts'
import { Type } from '../type.ts'

/** Alert rules and incidents. */
export const alerts = {
  listAlertRules: operation({
    tag: 'Alerts',
    summary: 'List alert rules',
    description:
      'Lists alert rules, newest first; with `accountId`, only rules of that sub-account. A credential that is limited to sub-accounts sees only rules of its sub-accounts.',
    actsIn: 'organization or account',
    scope: 'alerts:read',
    query: { q: Type.Optional(q), ...page },
    reply: AlertRule,
    list: 'paged',
    done: 'Alert rules listed',
  }),
  createAlertRule: operation({
    tag: 'Alerts',
    summary: 'Create an alert rule',
    description:
      'Creates a rule for the whole organization, or for one sub-account. The rule checks its connections immediately. The addresses of Slack and Teams are secrets, and no response contains them.',
    actsIn: 'organization',
    scope: 'alerts:write',
    body: CreateAlertRule,
    reply: AlertRule,
    success: 201,
    done: 'Alert rule created',
    refusals: ['quota_exceeded'],
    shows: { openIncidents: 0 },
  }),
  getAlertRule: operation({
    tag: 'Alerts',
    summary: 'Get an alert rule',
    description: 'Returns an alert rule, without the addresses of Slack and Teams.',
    actsIn: 'organization',
    scope: 'alerts:read',
    reply: AlertRule,
    done: 'Alert rule found',
    concurrency: 'etag',
  }),
  updateAlertRule: operation({
    tag: 'Alerts',
    summary: 'Update an alert rule',
    description:
      'Replaces the given values and keeps omitted ones; send all conditions together. Incidents that the rule no longer covers end. The sub-account of a rule cannot change.',
    actsIn: 'organization',
    scope: 'alerts:write',
    body: UpdateAlertRule,
    reply: AlertRule,
    done: 'Alert rule updated',
    concurrency: 'if-match',
  }),
  deleteAlertRule: operation({
    tag: 'Alerts',
    summary: 'Delete an alert rule',
    description: 'Deletes a rule with its incidents. No message is sent about open incidents.',
    actsIn: 'organization',
    scope: 'alerts:write',
    reply: Done,
    done: 'Alert rule deleted',
    concurrency: 'if-match',
  }),
  muteAlertRule: operation({
    tag: 'Alerts',
    summary: 'Mute or unmute an alert rule',
    description: `Sends no messages of the rule until a time, at most ${limits.alertMuteDaysMax} days from now; with null, sends them again. Incidents begin and end in the meantime. After that, one message lists the incidents that are still open.`,
    actsIn: 'organization',
    scope: 'alerts:write',
    body: MuteAlertRule,
    reply: AlertRule,
    done: 'Alert rule muted',
    concurrency: 'if-match',
  }),
  testAlertRule: operation({
    tag: 'Alerts',
    summary: 'Send a test message',
    description: `Queues a test message to every recipient of the rule, at most ${limits.alertTestsPerHour} times an hour, also if the rule is muted or off. If a message cannot be sent, \`deliveryError\` of the rule contains the reason.`,
    actsIn: 'organization',
    scope: 'alerts:write',
    reply: AlertTest,
    success: 202,
    done: 'Test messages queued',
    refusals: ['alert_rule_without_channel', 'rate_limited'],
  }),
  listAlertIncidents: operation({
    tag: 'Alerts',
    summary: 'List incidents',
    description: `Lists incidents of alert rules: open ones first, then the newest. Resolved incidents are kept for ${limits.alertIncidentDays} days. A credential that is limited to sub-accounts sees only incidents of their rules.`,
    actsIn: 'organization or account',
    scope: 'alerts:read',
    query: {
      open: yes('true: open incidents; false: resolved ones'),
      ruleId: optionalId('Keeps incidents of this rule', example.alertRuleId),
      ...page,
    },
    reply: AlertIncident,
    list: 'paged',
    done: 'Incidents listed',
  }),
  getAlertIncident: operation({
    tag: 'Alerts',
    summary: 'Get an incident',
    description: 'Returns an incident of an alert rule.',
    actsIn: 'organization',
    scope: 'alerts:read',
    reply: AlertIncident,
    done: 'Incident found',
  }),
  acknowledgeAlertIncident: operation({
    tag: 'Alerts',
    summary: 'Acknowledge an incident',
    description:
      'Records that you take care of the incident. It stays open until it is over. Repeating it changes nothing.',
    actsIn: 'organization',
    scope: 'alerts:write',
    reply: AlertIncident,
    done: 'Incident acknowledged',
    shows: {
      acknowledgedTime: example.updatedTime,
      acknowledgedBy: { kind: 'user', id: '2f6b8d0c4e917a35', name: 'Ada Lopez' },
    },
  }),
} as const
