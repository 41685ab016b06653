import type { DependencyState } from '@penstock/wire'

/** The texts about what transfers of a connection wait for, and about triggers. */
export const runConditions = {
  title: 'Runs after',
  none: 'It waits for no other connection.',
  help: 'A transfer starts when each of these has ended well since the last start.',
  group: (name: string) => `Group: ${name}`,
  change: 'Change',
  changeFull: 'Change what it waits for',
  dialog: 'What transfers wait for',
  connections: 'Runs after these connections',
  connectionsHelp: 'It starts when all of them ended well. If one fails, it does not start.',
  noneFound: 'No matching connections',
  groupName: 'Group',
  groupHelp: 'Connections of a group share a limit, such as those that load one warehouse. Empty: no group.',
  max: 'Concurrent transfers of the group',
  saved: 'The run conditions were saved',
  removed: 'A connection that was removed',
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
  waitsFor: (group: string) => `Waits for the group ${group}, whose limit is reached`,
}

/** The texts about triggers. */
export const triggers = {
  title: 'Triggers',
  help: 'Addresses that start a transfer with POST, for schedulers and webhooks such as that of a dbt job.',
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
  stored: 'I stored it',
  remove: (name: string) => `Delete the trigger ${name}`,
  removeTitle: 'Delete the trigger?',
  removeHelp: 'Its address starts no transfer any more.',
  removed: 'The trigger was deleted',
}
