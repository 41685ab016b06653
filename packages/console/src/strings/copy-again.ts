/** The texts about a table that is copied again. */
export const copyAgain = {
  action: 'Reset and copy again',
  title: (name: string) => `Copy the table of ${name} again?`,
  help: 'The state is reset, and a transfer copies the whole table. Rows that were removed from the table before this copy stay at the destination. Remove them there first, for example by emptying the destination table.',
  helpOfMirror:
    'The state is reset, and a transfer copies the whole table. At its end, rows that were removed from the table in the meantime are removed at the destination.',
  mirror: 'Mirror from now on',
  mirrorHelp: 'Later copies then remove such rows automatically. A mirror removes only rows that it has sent itself.',
  started: (name: string) => `${name} is being copied again`,
}
