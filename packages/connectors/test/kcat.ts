import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from '../../../test/harness/programs.ts'

/** The mock cluster of librdkafka, which is in Debian's kcat, with one broker and a topic of 4 partitions. */
export type KcatCluster = {
  readonly secrets: { readonly brokers: string; readonly tlsMode: string; readonly saslMechanism: string }
  /** Produces lines, each a key, a colon and a value, with a codec. */
  produce(topic: string, lines: readonly string[], codec: string): Promise<void>
  /** All messages of a topic, each as a key and a value. */
  consume(topic: string): Promise<[key: string, value: string][]>
  stop(): Promise<void>
}

/** Starts one; resolves with `undefined` if kcat is not installed. */
export async function startKcatCluster(topic: string): Promise<KcatCluster | undefined> {
  const program = findProgram('kcat')
  if (!program) return undefined
  const cluster = spawn(
    program,
    ['-X', 'test.mock.num.brokers=1', '-d', 'mock', '-b', 'ignored:1', '-G', 'penstock', topic],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const brokers = await addressOf(cluster)
  const run = (args: readonly string[], input = ''): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = execFile(program, ['-q', '-b', brokers, ...args], { timeout: 30_000 }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
      child.stdin?.end(input)
    })
  return {
    secrets: { brokers, tlsMode: 'disable', saslMechanism: 'none' },
    async produce(name, lines, codec) {
      await run(['-P', '-t', name, '-K', ':', '-z', codec], lines.map((line) => `${line}\n`).join(''))
    },
    async consume(name) {
      const found = await run(['-C', '-e', '-t', name, '-f', '%k\t%s\n'])
      return found
        .split('\n')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)])
    },
    async stop() {
      cluster.kill('SIGKILL')
      await once(cluster, 'exit')
    },
  }
}

/** The random port of the cluster, which it logs. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  let log = ''
  return new Promise((resolve, reject) => {
    stderr?.on('data', (piece) => {
      // It continues to log, which must be read.
      if (log.length < 1 << 20) log += piece
      const found = /bootstrap\.servers=([\d.:]+)/.exec(log)?.[1]
      if (found) resolve(found)
    })
    stderr?.on('end', () => reject(new Error(`kcat started no cluster: ${log}`)))
  })
}
