import type { ConnectionStatus, TransferTrigger } from '@penstock/wire'

/** The texts of the screen “Connection”. */
export const connection = {
  title: 'Connection',
  all: 'Connections',
  createdAt: 'Created',
  changedAt: 'Last changed',
  env: (env: string) => `Environment ${env}`,

  // Actions
  actions: 'More actions',
  run: 'Run now',
  activate: 'Activate',
  enable: 'Enable',
  disable: 'Disable',
  delete: 'Delete',
  restore: 'Restore',
  edit: 'Edit',
  stays: (status: string) => `Nothing would change. The connection would stay ${status.toLowerCase()}.`,
  onlyDisabled: (status: string) => `Only a disabled connection can be enabled; this one is ${status.toLowerCase()}.`,
  isAlready: (status: string) => `The connection is already ${status.toLowerCase()}.`,
  active: 'A transfer is already active.',
  entryOnly: (name: string) => `${name} cannot move data yet. You can only configure it.`,
  activated: (name: string) => `${name} is active`,
  enabled: (name: string, status: string) => `${name} is enabled: ${status.toLowerCase()}`,
  disabled: (name: string) => `${name} is disabled. No transfer starts until you enable it.`,
  deleted: (name: string) => `${name} was deleted`,
  restored: (name: string) => `${name} was restored. It is disabled until you enable it.`,
  started: (name: string) => `A transfer of ${name} was started`,
  already: 'A transfer is already active. A second one was not started.',
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteHelp:
    'Its transfers stop immediately. Delivered records stay at the destination. You can restore it for 30 days.',
  disableTitle: (name: string) => `Disable ${name}?`,
  disableHelp:
    'No transfer starts, manually or by schedule, until you enable the connection again. A queued or running transfer is cancelled: records that the destination confirmed stay there and are counted, and the rest is not sent.',
  notReady: 'Not ready yet',
  notReadyHelp: 'Nothing was changed. Complete this before data can move:',
  fixConnector: (name: string) => `Configure ${name}`,
  fixSettings: 'Complete the settings',
  dismiss: 'Dismiss',
  daysLeft: (days: number) =>
    days <= 0
      ? 'It will be removed permanently soon.'
      : `${days === 1 ? '1 day is' : `${days} days are`} left to restore it. After that, it is removed permanently.`,
  isDeleted: 'This connection is deleted',

  // Source and destination
  flow: 'Source and destination',
  source: 'Source',
  destination: 'Destination',
  configured: 'Configured',
  notConfigured: 'Not configured',
  configure: 'Configure',
  flowStatus: {
    'In-progress': 'Not active yet. No data moves until you activate the connection.',
    active: 'Active. Data moves when a transfer starts.',
    disabled: 'Disabled. No data moves until you enable the connection.',
    deleted: 'Deleted. No data moves.',
    broken: 'Broken. A platform refused the last transfer. Fix the error, then activate the connection again.',
    offline: 'Offline. A platform cannot be reached. Data moves again as soon as the platform answers.',
  } satisfies Record<ConnectionStatus, string>,
  described: (source: string, destination: string, flowStatus: string) =>
    `Data moves from ${source} to ${destination}. ${flowStatus}`,
  sideDescribed: (name: string, configured: boolean) => `${name} (${configured ? 'configured' : 'not configured'})`,
  flows: 'A transfer is running.',
  waits: 'The transfer is waiting for a worker',
  running: 'A transfer is running',
  soFar: (read: string, accepted: string, rejected: string) =>
    `${read} read so far · ${accepted} accepted · ${rejected} rejected`,
  progress: 'Progress of the transfer',
  open: 'Open the transfer',
  cancelTransfer: 'Cancel the transfer',
  cancelTitle: 'Cancel this transfer?',
  cancelHelp: 'Records that the destination confirmed stay there and are counted. The rest is not sent.',
  keepRunning: 'Keep it running',
  cancelled: 'The transfer was cancelled',

  // Tabs
  tabs: 'Sections of the connection',
  overview: 'Overview',
  transfers: 'Transfers',
  timeline: 'Timeline',
  configuration: 'Configuration',

  // Overview
  delivered: 'Records delivered, all time',
  deliveredMonth: 'Delivered this month',
  readAll: 'Read from the source, all time',
  funnel: 'From source to destination',
  funnelOf: 'Transfers in these figures',
  latest: 'Latest transfer',
  month: 'Last 30 days',
  read: 'Read',
  sent: 'Sent',
  accepted: 'Accepted',
  rejected: 'Rejected',
  readHelp: 'from the source',
  sentHelp: 'to the destination',
  acceptedHelp: 'by the destination',
  rejectedHelp: 'each with its reason',
  replayed: (n: string) => `${n} of the accepted records were rejected at first and replayed later.`,
  noTransfer: 'No transfers yet',
  noTransferHelp: 'Start a transfer or set a schedule. The figures of the latest transfer appear here.',
  noVolume: 'No records moved in the last 30 days',
  volume: 'Records by day',
  volumeHelp: 'Last 30 days, UTC',
  volumeSummary: (accepted: string, rejected: string) =>
    `Records by day in the last 30 days: ${accepted} accepted, ${rejected} rejected in total.`,

  // Schedule
  schedule: 'Schedule',
  scheduleNone: 'Manual transfers only',
  scheduleNoneHelp:
    'A schedule starts transfers automatically. A scheduled transfer is skipped while another one is active.',
  setSchedule: 'Set a schedule',
  changeSchedule: 'Change',
  changeScheduleFull: 'Change the schedule',
  deleteSchedule: 'Delete',
  deleteScheduleFull: 'Delete the schedule',
  deleteScheduleTitle: 'Delete the schedule?',
  deleteScheduleHelp: 'Transfers no longer start automatically. You can still start them manually.',
  scheduleDeleted: 'The schedule was deleted. Transfers are now started manually only.',
  scheduleSaved: 'The schedule was saved',
  scheduleOff: 'Switched off',
  scheduleIdle: (status: string) => `No transfer starts while the connection is ${status.toLowerCase()}.`,
  nextTransfer: 'Next transfer',
  lastTransfer: 'Last scheduled transfer',
  timezone: 'Time zone',
  timezoneNone: 'No matching time zone',
  how: 'Frequency',
  hourly: 'Every hour',
  daily: 'Every day',
  weekdays: 'Monday to Friday',
  custom: 'Cron expression',
  minute: 'Minute of the hour',
  at: 'At',
  cron: 'Cron expression',
  cronHelp: 'Minute, hour, day of month, month, day of week: 0 6 * * 1 is Mondays at 06:00.',
  scheduleEnabled: 'Scheduled',
  scheduleEnabledHelp: 'If you switch it off, the schedule is kept but does not start transfers.',
  rowsComeAgain: 'Every transfer adds all rows again',
  rowsComeAgainHelp: ({
    mode,
    otherModes,
    canReadNew,
  }: {
    mode: string
    otherModes: readonly string[]
    canReadNew: boolean
  }) => {
    const ways = [
      otherModes.length > 0 && `set the write mode to ${otherModes.join(' or ')}`,
      canReadNew && 'set the sync mode to Incremental',
    ].filter(Boolean)
    const what = `The source is read in full each time, and the write mode ${mode} adds each row, even if it already exists.`
    return ways.length > 0 ? `${what} To avoid duplicates, ${ways.join(', or ')}.` : what
  },
  changeSettings: 'Change the settings',
  everyHourAt: (minute: string) => `Every hour at :${minute}`,
  everyDayAt: (time: string) => `Every day at ${time}`,
  weekdaysAt: (time: string) => `Monday to Friday at ${time}`,
  byCron: (cron: string) => `By ${cron}`,

  // Transfers
  transferStatus: 'Status',
  anyStatus: 'Any status',
  transferStarted: 'Requested',
  trigger: 'Started by',
  triggers: {
    manual: 'A user or an API call',
    schedule: 'The schedule',
    replay: 'A replay of rejected records',
  } satisfies Record<TransferTrigger, string>,
  took: 'Duration',
  noTransfers: 'No transfers yet',
  noTransfersFit: 'No transfers with this status',
  openTransfer: (status: string) => `Open the transfer: ${status}`,
  cancelOne: 'Cancel this transfer',

  latestFailed: 'The latest transfer failed',

  // Timeline
  noEvents: 'No events yet',
  more: 'Show more',
  transferHappened: (status: string) => `Transfer: ${status.toLowerCase()}`,
  transferCounts: (read: string, accepted: string, rejected: string) =>
    `${read} read, ${accepted} accepted, ${rejected} rejected`,
  created: (name: string) => `Created as “${name}”`,
  renamed: (from: string, to: string) => `Renamed from “${from}” to “${to}”`,
  settingsChanged: (side: string) => `Settings of the ${side.toLowerCase()} changed`,
  statusChanged: (from: string, to: string) => `${from} → ${to}`,
  statusSet: (to: string) => `Status: ${to.toLowerCase()}`,
  inZone: (words: string, zone: string, off: boolean) => `${words}, ${zone}${off ? ', switched off' : ''}`,
  scheduleSet: (to: string) => `Schedule set: ${to}`,
  scheduleGone: (from: string) => `Schedule deleted: ${from}`,
  scheduleChanged: (from: string, to: string) => `Schedule changed: ${from} → ${to}`,

  // Configuration
  settingsOf: (side: string, name: string) => `${side}: ${name}`,
  noSettings: 'No settings.',
  unset: 'not set',
  byDefault: 'default',
  yes: 'Yes',
  no: 'No',
  isSecret: 'A secret, never shown',
  mapping: 'Mapping',
  mappingNone: 'Columns are matched by name.',
  mappingField: 'Destination field',
  mappingFrom: 'Filled from',
  mappingForm: 'Format',
  column: (name: string) => `Column “${name}”`,
  always: (value: string) => `Always “${value}”`,
  empty: 'Stays empty',
  asIs: 'as it is',
  hashedBy: (digest: string) => `hashed (${digest.toUpperCase()})`,
  mappingUnreadable: 'The mapping is invalid. Edit the connection to fix it.',
  editSettings: 'Edit name and settings',
  identifiers: 'Identifiers',
  connectionId: 'Connection',
  copyId: (what: string) => `Copy the identifier: ${what}`,
  copied: 'Copied',

  // Editing
  editTitle: (name: string) => `Edit ${name}`,
  name: 'Name',
  nameHelp: '1 to 200 characters',
  saved: (name: string) => `${name} was saved`,
  immutable: 'You cannot change the source or the destination. Create a new connection instead.',
  labelOf: (side: string, label: string) => `${side}: ${label}`,
}
