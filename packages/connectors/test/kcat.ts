import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from '../../../test/harness/programs.ts'

/** A message as kcat reads it. */
export type KcatMessage = {
  readonly partition: number
  readonly key: string | null
  readonly value: string | null
  readonly timestampMs: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A cluster as the client kcat sees it, which is made with librdkafka. */
export type Kcat = {
  /**
   * Produces lines, each a key, a colon and a value, with a codec.
   * @param options other options of kcat, such as headers or properties of librdkafka
   */
  produce(topic: string, lines: readonly string[], codec: string, options?: readonly string[]): Promise<void>
  /** All messages of a topic, partition by partition. librdkafka compares their checksums. */
  consume(topic: string): Promise<KcatMessage[]>
}

/** The mock cluster of librdkafka, which is in Debian's kcat, with one broker and a topic of 4 partitions. */
export type KcatCluster = Kcat & {
  readonly secrets: { readonly brokers: string; readonly tlsMode: string; readonly saslMechanism: string }
  stop(): Promise<void>
}

/** Kcat, for the cluster at an address; without kcat, every call rejects. @param properties of librdkafka, such as `sasl.username=me` */
export function kcatAt(brokers: string, properties: readonly string[] = []): Kcat {
  const program = findProgram('kcat') ?? 'kcat'
  const common = ['-q', '-b', brokers, ...['client.id=kcat', ...properties].flatMap((property) => ['-X', property])]
  const run = (args: readonly string[], input = ''): Promise<string> =>
    new Promise((resolve, reject) => {
      const bounds = { timeout: 60_000, maxBuffer: 64 << 20 }
      const child = execFile(program, [...common, ...args], bounds, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
    })
  return {
    async produce(topic, lines, codec, options = []) {
      const input = lines.map((line) => `${line}\n`).join('')
      await run(['-P', '-t', topic, '-K', ':', '-z', codec, ...options], input)
    },
    async consume(topic) {
      const found = await run(['-C', '-e', '-J', '-t', topic, '-X', 'check.crcs=true'])
      return found.split('\n').filter(Boolean).map(messageOf)
    },
  }
}

function messageOf(line: string): KcatMessage {
  const { partition, key, payload, ts, headers = [] } = JSON.parse(line)
  const names = (headers as string[]).filter((_, index) => index % 2 === 0)
  return {
    partition,
    key,
    value: payload,
    timestampMs: ts,
    headers: names.map((name, index) => [name, headers[2 * index + 1]] as const),
  }
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
  return {
    ...kcatAt(brokers),
    secrets: { brokers, tlsMode: 'disable', saslMechanism: 'none' },
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
