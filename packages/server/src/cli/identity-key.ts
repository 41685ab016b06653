import { recordCommand } from '../audit/record.ts'
import type { Config } from '../config.ts'
import { rotateSigningKey } from '../identity-tokens/signing-keys.ts'
import type { Logger } from '../log.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { print } from './print.ts'
import { withRuntime } from './runtime.ts'

/** `penstock identity-key rotate`: adds a key that signs identity tokens. */
export async function rotateIdentityKeyCommand(
  config: Config,
  log: Logger,
  { now = false, json }: { now?: boolean; json?: boolean },
): Promise<void> {
  const keys = await withRuntime(config, log, async ({ database, masterKey }) => {
    const keyring = await openKeyring(database, masterKey)
    const rotated = await rotateSigningKey({ database, keyring }, now ? 'once' : 'later')
    const [newest] = rotated
    await database.transaction(async (tx) =>
      recordCommand(tx, 'identity-key rotate', { keyId: newest?.id ?? null, now }),
    )
    return rotated
  })
  const list = keys.map(({ id, signsFrom, publishedUntil }) => ({
    keyId: id,
    signsFrom: signsFrom.toISOString(),
    publishedUntil: publishedUntil?.toISOString() ?? null,
  }))
  const [newest] = list
  const words = now
    ? `Key ${newest?.keyId} signs from now on. The other keys are withdrawn: tokens that they signed are refused once clouds have read the keys again.`
    : `Key ${newest?.keyId} signs from ${newest?.signsFrom} on. Until then, clouds learn it, and the present key signs.`
  print(list, json, words)
}
