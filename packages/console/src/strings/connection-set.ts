/** The texts of connections that are created together: in the wizard, and on the page of a connection. */
export const connectionSet = {
  several: 'Several destinations',
  severalHelp:
    'Select every destination. Each gets its own connection, which reads the source itself and has its own schedule.',
  picked: 'Selected destinations',
  nonePicked: 'Select at least one destination.',
  next: (n: number) => (n === 1 ? 'Continue with 1 destination' : `Continue with ${n} destinations`),

  progress: (n: number, of: number, name: string) => `Destination ${n} of ${of}: ${name}`,
  destinations: 'Destinations of this set',
  state: { done: 'Created', now: 'In progress', waits: 'Not created' },
  copied: (name: string) =>
    `The settings of the source are copied from ${name}. You can change them for this connection.`,
  nextOne: 'Continue to next destination',
  leave: (name: string) => `Continue without ${name}`,
  left: (n: number) =>
    n === 1 ? '1 connection of this set is saved as a draft.' : `${n} connections of this set are saved as drafts.`,

  review: 'Connections of this set',
  reviewHelp: 'Each connection reads the source itself, so each has its own checkpoint and can fail alone.',
  settings: 'Settings',
  settingsOf: (name: string) => `Settings of ${name}`,
  mapping: 'Mapping',
  mappingOf: (name: string) => `Mapping of ${name}`,
  activateAll: 'Activate all and run',
  activateHelp: 'Activates the connections one after another and starts the first transfer of each.',
  allActive: (n: number) => `${n} connections are active`,
  stopped: (name: string, done: number) =>
    done === 0
      ? `${name} was not activated`
      : `${name} was not activated. ${done === 1 ? '1 connection is' : `${done} connections are`} active.`,
  notStarted: (name: string) => `${name} is active, but its first transfer did not start`,
  unread: 'A connection',
  again: 'Try again',
  skip: (name: string) => `Continue without ${name}`,
  skipped: 'Skipped',
  toList: 'Show the connections',
  toOne: 'Go to the connection',

  card: 'Same source, other destinations',
  cardHelp: (name: string) => `Created together as “${name}”. A tag holds the set together.`,
  others: (name: string) => `Other connections of ${name}`,
  none: 'The other connections of this set were deleted.',
  more: 'Actions for the set',
  rename: 'Rename the set',
  setName: 'Name of the set',
  renameHelp: (n: number) => `Changes the tag of all ${n} connections. Their own names stay.`,
  renamed: (name: string) => `The set is named “${name}”`,
  notRenamed: (names: readonly string[]) => `Not renamed: ${names.join(', ')}`,
  setSchedule: 'Set one schedule',
  schedule: (name: string) => `Schedule of ${name}`,
  scheduleHelp: (n: number) => `Replaces the schedules of all ${n} connections.`,
  scheduleSaved: (n: number) => `${n} connections have the schedule`,
  scheduleRefused: (names: readonly string[]) => `Not saved for ${names.join(', ')}`,
  showAll: 'Show in the list',
}
