import type { DependencyState } from '@penstock/wire'

/** The texts about what transfers of a connection wait for, and about triggers. */
export const runConditions = {
  title: 'Runs after',
  none: 'It does not wait for other connections.',
  help: 'A transfer starts when each of these connections has succeeded since the last start.',
  group: (name: string) => `Group: ${name}`,
  change: 'Change',
  changeFull: 'Change the run conditions',
  dialog: 'Run conditions',
  connections: 'Runs after these connections',
  connectionsHelp: 'A transfer starts when all of them have succeeded. If one fails, it does not start.',
  noneFound: 'No matching connections',
  groupName: 'Group',
  groupHelp: 'Connections in a group share a limit, for example because they load the same warehouse. Optional.',
  max: 'Concurrent transfers in the group',
  saved: 'The run conditions were saved',
  removed: 'Removed connection',
  states: {
    done: 'Done',
    waiting: 'Not yet',
    failed: 'Failed',
    inactive: 'Not active',
    deleted: 'Deleted',
  } satisfies Record<DependencyState, string>,
  set: (to: string) => `Run conditions set: ${to}`,
  gone: 'Run conditions removed',
  notStarted: (connection: string, status: string) => `Not started: ${connection} is ${status}`,
  waitsFor: (group: string) => `Waiting: the group ${group} has reached its limit`,
}

/** The texts about triggers. */
export const triggers = {
  title: 'Triggers',
  help: 'Addresses that start a transfer when they receive a POST request, such as from a scheduler or a dbt job.',
  none: 'No triggers',
  add: 'Add a trigger',
  name: 'Name',
  secret: 'dbt Cloud webhook secret',
  secretHelp: 'Only if dbt Cloud calls it. Requests must then be signed, and only successful runs start a transfer.',
  signed: 'dbt Cloud',
  used: 'Last used',
  address: 'Address',
  addressTitle: 'Copy the address now',
  addressHelp: 'It is shown only once. Keep it like a password: it starts transfers without a token.',
  stored: 'I have stored it',
  remove: (name: string) => `Delete the trigger ${name}`,
  removeTitle: 'Delete the trigger?',
  removeHelp: 'Its address no longer starts transfers.',
  removed: 'The trigger was deleted',
}
