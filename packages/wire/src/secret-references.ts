/**
 * References to secrets that an organization keeps in a secret manager: `secret://manager/path#key`. A reference is not a
 * secret. The operator configures the managers, and which paths each sub-account may use.
 */

/** The parts of a reference. */
export type SecretReferenceParts = {
  /** The name that the operator gave to the manager. */
  readonly manager: string
  /** `null`: the `secretName` of the configuration. */
  readonly path: string | null
  /** The key of the value in the secret, which is a JSON object then; `null`: the whole secret. */
  readonly key: string | null
}

/** The most characters of a reference. */
export const secretReferenceLengthMax = 1_000

const form = /^secret:\/\/([a-z][a-z0-9-]{0,29})(?:\/([^#]+))?(?:#(.+))?$/s
/** Nothing that a server could decode, normalise or expand: no `%`, `\`, `?`, `*`, spaces, or letters beyond ASCII. */
const segment = /^[A-Za-z0-9_=@+:.-]+$/
const keyForm = /^(?!\s)[^\p{Cc}\p{Cs}\u2028\u2029]{1,200}(?<!\s)$/u

/** Whether a text that was entered for a secret is meant as a reference, valid or not. */
export const isSecretReference = (text: unknown): text is string =>
  typeof text === 'string' && /^\s*secret:\/\//i.test(text)

/** Whether a text is the path of a secret that a reference can name. */
export const isSecretPath = (path: string): boolean =>
  path.length <= 600 && path.split('/').every((one) => segment.test(one) && !/^\.+$/.test(one))

/** Reads a reference; `undefined` if it is not valid. */
export function readSecretReference(text: string): SecretReferenceParts | undefined {
  if (text.length > secretReferenceLengthMax) return undefined
  const [, manager, path = null, key = null] = form.exec(text) ?? []
  if (manager === undefined) return undefined
  if (path !== null && !isSecretPath(path)) return undefined
  if (key !== null && !keyForm.test(key)) return undefined
  return { manager, path, key }
}

/** The form of a reference, to complete “must be”. */
export const secretReferenceForm =
  'a reference such as secret://vault/penstock/ads#token: the name of a secret manager, the path of the secret, and the key of the value after #. A path consists of letters, digits and _ - . = @ + : between slashes, without . or .. as a part'
