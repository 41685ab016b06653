import type { SecretForm } from './terms.ts'

/** The forms that a secret field can require. The server and the forms validate with this one rule. */

/** Bytes of a signing key, by Standard Webhooks. */
const keyBytesMin = 24
const keyBytesMax = 64

/** Error of a secret, as a phrase to follow the name of its field; undefined if the secret is valid. */
export function secretFormError(form: SecretForm, secret: string): string | undefined {
  return errorsOfForm[form](secret)
}

const errorsOfForm: Readonly<Record<SecretForm, (secret: string) => string | undefined>> = {
  'standard-webhooks': (secret) => {
    const [, encoded = ''] = /^\s*whsec_([A-Za-z0-9+/]+)={0,2}\s*$/.exec(secret) ?? []
    const bytes = Math.floor((encoded.length * 3) / 4)
    return bytes >= keyBytesMin && bytes <= keyBytesMax
      ? undefined
      : `must be whsec_ and the Base64 form of ${keyBytesMin} to ${keyBytesMax} random bytes`
  },
}
