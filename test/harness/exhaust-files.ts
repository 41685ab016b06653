import { closeSync, openSync } from 'node:fs'

/**
 * Loaded into a process before its program, by `--import`: SIGUSR2 opens files until the operating system lets this
 * process open no more, and the next SIGUSR2 closes them. It reports on standard output.
 */
const files: number[] = []
process.on('SIGUSR2', () => {
  if (files.length > 0) {
    for (const file of files.splice(0)) closeSync(file)
    process.stdout.write('files closed\n')
    return
  }
  try {
    for (;;) files.push(openSync('/dev/null', 'r'))
  } catch (error) {
    process.stdout.write(`${(error as NodeJS.ErrnoException).code} reached\n`)
  }
})
