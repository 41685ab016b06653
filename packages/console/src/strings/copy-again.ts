/** The texts about a table that is copied again. */
export const copyAgain = {
  action: 'Reset and copy again',
  title: (name: string) => `Copy the table of ${name} again?`,
  help: 'The state is reset, and a transfer copies the whole table. Rows that were removed from the table before this copy stay at the destination: remove them there first, for example by emptying its table.',
  helpOfMirror:
    'The state is reset, and a transfer copies the whole table. At its end, rows that were removed from the table meanwhile are removed at the destination.',
  mirror: 'Mirror from now on',
  mirrorHelp: 'Later copies then remove such rows themselves. A mirror knows only rows that it sent itself.',
  started: (name: string) => `${name} is being copied again`,
}
