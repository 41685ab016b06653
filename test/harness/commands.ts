import assert from 'node:assert/strict'
import type { Ended, Stage } from './process.ts'

/** The commands of `penstock` as an operator runs them, all on one stage and with the same settings. */
export type Commands = {
  /** All of their output, to search for text that must not be in it. */
  readonly said: readonly string[]
  run(...args: string[]): Promise<Ended>
  /** Runs a command that must succeed with nothing on standard error except its database. Returns its output. */
  done(...args: string[]): Promise<string>
  /** Runs a command with `--json` that must succeed. Returns the JSON value that it printed on one line. */
  json<T>(...args: string[]): Promise<T>
  /**
   * Runs a command that must fail with this exit code, a single line in addition to its database, and nothing on standard
   * output. Returns the line.
   */
  fails(code: 1 | 2, ...args: string[]): Promise<string>
}

/** First line of every command on standard error after it has connected to its database. It never contains a password. */
export const databaseLine = /^Database: postgres:\/\/[^:@]+@\S+?(?:, (?:embedded in|through) .+)?\n/

export function commandsOn(stage: Stage, env: Record<string, string> = {}): Commands {
  const said: string[] = []
  const run = async (...args: string[]) => {
    const ended = await stage.penstock(args, { env })
    said.push(ended.stdout, ended.stderr)
    return ended
  }
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual({ code, stderr: stderr.replace(databaseLine, '') }, { code: 0, stderr: '' }, args.join(' '))
    assert.match(stderr, databaseLine, args.join(' '))
    return stdout
  }
  return {
    said,
    run,
    done,
    json: async (...args) => {
      const printed = await done(...args, '--json')
      assert.match(printed, /^.+\n$/, 'one line')
      return JSON.parse(printed)
    },
    fails: async (code, ...args) => {
      const ended = await run(...args)
      assert.deepEqual([ended.code, ended.stdout], [code, ''], `${args.join(' ')}: ${ended.stderr}`)
      const line = ended.stderr.replace(databaseLine, '')
      assert.match(line, /^penstock: .+\n$/)
      return line
    },
  }
}
