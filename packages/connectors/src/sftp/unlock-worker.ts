import { parentPort, workerData } from 'node:worker_threads'
import ssh2 from 'ssh2'
import type { LockedKey, UnlockedKey } from './private-key.ts'

/** Opens an encrypted key in a thread of its own, since the library does not let anything else happen meanwhile. */
const { text, passphrase } = workerData as LockedKey
const key = ssh2.utils.parseKey(text, passphrase)
const answer: UnlockedKey =
  key instanceof Error || !key.isPrivateKey()
    ? { why: key instanceof Error ? key.message : 'not a private key' }
    : { pem: key.getPrivatePEM() }
parentPort?.postMessage(answer)
