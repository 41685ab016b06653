import type { AlertChannel, AlertConditionName, AlertReason, AlertResolution } from '@penstock/wire'

/** A condition in the form, and in the list of rules. */
export type ConditionTexts = {
  /** @param n the bound, or the proposed one while the condition is off */
  ask: (n: string) => string
  help?: string
  /** @param n the bound, if it has one */
  line: (n: string) => string
  unit?: { label: string; suffix: string }
}

/** The texts of the screen “Alerts”. */
export const alerts = {
  title: 'Alerts',
  help: 'Rules watch for failures. They send one message when an incident begins and another when it ends.',
  view: 'View',
  incidents: 'Incidents',
  rules: 'Rules',
  show: 'Show',
  open: 'Open',
  resolved: 'Resolved',

  noneOpen: 'No open incidents',
  noneOpenBut: (n: string, one: boolean) =>
    one
      ? 'No open incidents, but 1 connection needs attention'
      : `No open incidents, but ${n} connections need attention`,
  noneOpenButHelp: 'Turn on a rule for such failures, or open the list of everything that needs attention.',
  needsAttention: 'Show what needs attention',
  reachesNoOne: 'No one is notified outside the console',
  reachesNoOneHelp:
    'Without recipients, incidents appear only here and in webhooks that receive alert.opened events. Add a recipient, or save the rule as it is.',
  noneResolved: 'No resolved incidents',
  noRules: 'No alert rules',
  noRulesFound: 'No matching alert rules',
  noRulesOfAccount: 'This sub-account has no alert rules of its own. The rules of the organization cover it too.',
  searchRules: 'Search alert rules',
  showAllRules: 'All rules',
  ofRule: (name: string) => `Rule: ${name}`,

  connection: 'Connection',
  what: 'What happened',
  since: 'Since',
  until: 'Until',
  rule: 'Rule',
  acknowledge: 'Acknowledge',
  acknowledgeOf: (name: string) => `Acknowledge the incident of ${name}`,
  acknowledged: 'The incident was acknowledged',
  acknowledgedBy: (name: string) => `Acknowledged by ${name}`,
  someone: 'an API key',
  place: (table: string | null, columns: readonly string[]) =>
    [
      table === null ? '' : `Table ${table}`,
      columns.length === 0 ? '' : `${columns.length === 1 ? 'Column' : 'Columns'} ${columns.join(', ')}`,
    ]
      .filter(Boolean)
      .join(' · '),
  transfer: 'Transfer',
  reason: {
    connection_broken: 'Connection broken',
    connection_offline: 'Connection offline',
    columns_changed: 'Columns changed',
    transfer_failed: 'Transfer failed',
    transfer_partial: 'Too many records rejected',
    no_success: 'No success for too long',
    volume_unusual: 'Unusual volume',
    log_kept: 'Source log is growing',
    behind_stream: 'Behind its event stream',
    audience_small: 'Audience is small',
    match_fell: 'Match rate fell',
  } satisfies Record<AlertReason, string>,
  resolution: {
    recovered: 'Works again',
    stopped: 'Disabled or deleted',
    rule_changed: 'Rule changed',
  } satisfies Record<AlertResolution, string>,

  name: 'Name',
  covers: 'Covers',
  wholeOrganization: 'The whole organization',
  nConnections: (n: string, one: boolean) => (one ? '1 connection' : `${n} connections`),
  looksFor: 'Looks for',
  sendsTo: 'Sends to',
  noOne: 'No one',
  off: 'Off',
  muted: 'Muted until',
  openIncidents: (n: string, one: boolean) => (one ? '1 open incident' : `${n} open incidents`),
  channel: { email: 'E-mail', slack: 'Slack', teams: 'Microsoft Teams' } satisfies Record<AlertChannel, string>,
  notSent: (channel: string) => `${channel}: the last message could not be sent.`,

  create: 'Create alert rule',
  edit: 'Edit',
  editOf: (name: string) => `Edit ${name}`,
  actions: (name: string) => `Actions for ${name}`,
  test: 'Send a test message',
  tested: (n: string, one: boolean) => (one ? '1 test message is being sent' : `${n} test messages are being sent`),
  mute: (span: string) => `Mute for ${span}`,
  spans: { 3600: '1 hour', 86400: '1 day', 604800: '7 days' } as Readonly<Record<number, string>>,
  unmute: 'Unmute',
  mutedNow: 'The rule is muted',
  unmuted: 'The rule is no longer muted',
  remove: 'Delete',
  removeTitle: (name: string) => `Delete ${name}?`,
  removeHelp: 'Its incidents are deleted too. No message is sent about open incidents.',
  removed: (name: string) => `${name} was deleted`,
  saved: (name: string) => `${name} was saved`,
  savedBut: (name: string) => `${name} was saved, but not all of its messages can be sent`,
  noMail: 'No e-mail is sent, because no mail server is set up',
  noMailHelp: 'Ask the operator to set PENSTOCK_SMTP_URL, or use Slack or Microsoft Teams.',
  unsent: (n: string, one: boolean) =>
    one ? '1 alert rule cannot send its messages' : `${n} alert rules cannot send their messages`,
  inAccount: 'Your access is limited to certain sub-accounts. Open a sub-account to create a rule for it.',

  forOrganization: 'The rule covers all sub-accounts of the organization.',
  forAccount: 'The rule covers this sub-account.',
  connections: 'Connections',
  connectionsHelp: 'Leave empty to cover all connections, including new ones.',
  connectionsSearch: 'Search by name',
  connectionsNone: 'No matching connections',
  messageWhen: 'Send a message when',
  condition: {
    transferFailed: { ask: () => 'a transfer fails', line: () => 'Failed transfers' },
    connectionBroken: {
      ask: () => 'a connection breaks or goes offline',
      line: () => 'Broken or offline connections',
    },
    rejectedPercent: {
      ask: (n) => `a transfer rejects more than ${n}% of its records`,
      line: (n) => `More than ${n}% rejected`,
      unit: { label: 'Share in percent', suffix: '%' },
    },
    noSuccessHours: {
      ask: (n) => `no transfer of an active connection has succeeded for ${n} h`,
      line: (n) => `No success for ${n} h`,
      unit: { label: 'Hours', suffix: 'hours' },
    },
    volumePercent: {
      ask: (n) => `the number of records in the last day is ${n}% higher or lower than usual`,
      help: 'Compared with the median of the same weekday over the last 8 weeks. Needs 4 weeks of history.',
      line: (n) => `Volume off by more than ${n}%`,
      unit: { label: 'Difference in percent', suffix: '%' },
    },
    logKeptGb: {
      ask: (n) => `the server of a source keeps ${n} GiB or more of its log for a connection`,
      help: 'Also for disabled connections, and when the server is about to remove changes that have not been read.',
      line: (n) => `Source log over ${n} GiB`,
      unit: { label: 'Size in GiB', suffix: 'GiB' },
    },
    behindMinutes: {
      ask: (n) => `an event of a stream has waited ${n} min for a connection`,
      line: (n) => `Events wait ${n} min`,
      unit: { label: 'Minutes', suffix: 'minutes' },
    },
    audienceBelow: {
      ask: (n) => `an audience has fewer than ${n} people`,
      line: (n) => `Audience under ${n} people`,
      unit: { label: 'People', suffix: 'people' },
    },
    matchFellPercent: {
      ask: (n) => `the match rate of an audience falls by ${n}%`,
      help: 'Compared with the average of the 7 days before. Needs 3 measurements, and a platform that reports matches.',
      line: (n) => `Match rate down by ${n}%`,
      unit: { label: 'Decrease in percent', suffix: '%' },
    },
  } satisfies Record<AlertConditionName, ConditionTexts>,
  moreConditions: 'Change logs, event streams and audiences',
  chooseOne: 'Choose at least one.',
  messages: 'Recipients',
  roles: 'E-mail to roles',
  rolesHelp: 'People with these roles get messages about the sub-accounts that they can see.',
  emails: 'E-mail to other addresses',
  emailsHelp: 'Press Enter after each address.',
  slackUrl: 'Slack webhook URL',
  teamsUrl: 'Microsoft Teams workflow URL',
  teamsHelp: 'In Teams, create a workflow from the template for posting webhook alerts to a channel, and copy its URL.',
  urlHelp: 'The URL is a secret and is not shown again. Clear the field to remove it.',
  enabled: 'On',
}
