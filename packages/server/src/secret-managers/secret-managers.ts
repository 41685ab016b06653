import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { OpenEgress } from '@penstock/connector/egress'
import type { ManagerAccess, OpenedManager } from '@penstock/connectors/secret-managers'
import { limits } from '@penstock/wire'
import type { Config } from '../config.ts'
import { egressOptions } from '../egress-settings.ts'
import type { SecretManagerSettings } from '../secret-manager-settings.ts'
import { allowedSecret, type Tenant } from './allowed.ts'

/**
 * Reads secrets from the secret managers of the deployment, for jobs. A secret is never stored; it is kept in memory for a
 * short time, so that a new version is used soon after it was saved there.
 */
export type SecretManagers = {
  /**
   * Checks a reference without reading the secret.
   * @throws ConnectorError as {@link allowedSecret} does
   */
  check(reference: string, tenant: Tenant): void
  /**
   * Reads the value that a reference names.
   * @param fresh reads it from the manager although it is known
   * @param onKept is called if the value comes from the memory of this process, with a function that forgets it there
   * @throws ConnectorError as {@link allowedSecret} does, and `secret_manager_unavailable`, `secret_not_found` and
   *   `secret_not_allowed`. No message contains a part of a secret
   */
  read(reference: string, tenant: Tenant, fresh?: boolean, onKept?: (forget: () => void) => void): Promise<string>
  close(): Promise<void>
}

/** How long a secret is used without asking its manager again. */
const keptMs = 2 * 60_000
/** Secrets that are kept, and the sum of their characters. */
const keptMax = 1_000
const keptLengthMax = 8 << 20

type Loaded = {
  readonly egress: OpenEgress
  readonly open: (access: ManagerAccess, egress: OpenEgress) => OpenedManager
}

type Kept = { readonly text: string; readonly untilMs: number }

/** @param routes for tests, as in `EgressOptions` */
export function createSecretManagers(
  { secretManagers, egress }: Pick<Config, 'secretManagers' | 'egress'>,
  routes: Readonly<Record<string, string>> = {},
): SecretManagers {
  const kept = new Map<string, Kept>()
  const reading = new Map<string, Promise<string>>()
  const opened = new Map<string, OpenedManager>()
  let keptLength = 0
  let loaded: Promise<Loaded> | undefined

  // Loaded with the first secret: most processes do without. The addresses are the operator's, so the network policy for
  // addresses of tenants does not apply; link-local addresses stay closed.
  const load = async () => {
    const [{ createEgress }, { openManager }] = await Promise.all([
      import('@penstock/connector/egress'),
      import('@penstock/connectors/secret-managers'),
    ])
    return { egress: createEgress({ ...egressOptions(egress), networkPolicy: 'any', routes }), open: openManager }
  }
  const managerOf = async ({ name, access }: SecretManagerSettings): Promise<OpenedManager> => {
    const known = opened.get(name)
    if (known) return known
    loaded ??= load()
    const { egress: own, open } = await loaded
    const manager = opened.get(name) ?? open(access, own)
    opened.set(name, manager)
    return manager
  }
  const forget = (id: string) => {
    keptLength -= kept.get(id)?.text.length ?? 0
    kept.delete(id)
  }
  const keep = (id: string, text: string) => {
    forget(id)
    kept.set(id, { text, untilMs: performance.now() + keptMs })
    keptLength += text.length
    for (const oldest of kept.keys()) {
      if (kept.size <= keptMax && keptLength <= keptLengthMax) break
      forget(oldest)
    }
  }
  /** Several jobs that need a secret ask for it once. */
  const readOnce = (id: string, manager: SecretManagerSettings, path: string): Promise<string> => {
    const active = reading.get(id)
    if (active) return active
    const read = managerOf(manager)
      .then((one) => one.read(path))
      .then((text) => {
        keep(id, text)
        return text
      })
      .finally(() => reading.delete(id))
    reading.set(id, read)
    return read
  }

  return {
    check(reference, tenant) {
      allowedSecret(secretManagers, reference, tenant)
    },
    async read(reference, tenant, fresh = false, onKept = () => {}) {
      const { manager, path, key } = allowedSecret(secretManagers, reference, tenant)
      const id = `${manager.name}/${path}`
      const known = kept.get(id)
      if (known && performance.now() >= known.untilMs) forget(id)
      const before = fresh ? undefined : kept.get(id)
      // Another job may have read it again meanwhile.
      if (before) onKept(() => kept.get(id) === before && forget(id))
      const text = before?.text ?? (await readOnce(id, manager, path).catch(asExplained(id)))
      return valueIn(text, key, `secret://${id}`)
    },
    async close() {
      kept.clear()
      await (await loaded)?.egress.close()
    },
  }
}

/** A defect could quote what it worked on. */
const asExplained =
  (id: string) =>
  (error: unknown): never => {
    throw asConnectorError(error) ?? new Error(`Reading secret://${id} failed: ${(error as Error)?.name ?? 'unknown'}`)
  }

/** The value of a key of a secret, or the whole secret. */
function valueIn(text: string, key: string | null, shown: string): string {
  const value = key === null ? text : valueOfKey(text, key, shown)
  if (value === '' || value.length > limits.secretLengthMax) {
    const what = value === '' ? 'is empty' : `has more than ${limits.secretLengthMax} characters`
    throw new ConnectorError('secret_not_found', `The secret of ${shown}${key === null ? '' : `#${key}`} ${what}.`)
  }
  return value
}

function valueOfKey(text: string, key: string, shown: string): string {
  let values: unknown
  try {
    values = JSON.parse(text)
  } catch {}
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    const message = `The secret of ${shown} is a single value, so it has no key ${key}. Remove #${key} from the reference.`
    throw new ConnectorError('secret_not_found', message)
  }
  const value = Object.hasOwn(values, key) ? (values as Record<string, unknown>)[key] : undefined
  if (value === undefined || value === null) {
    throw new ConnectorError(
      'secret_not_found',
      `The secret of ${shown} has no key ${key}. Add it, or correct the reference.`,
    )
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
