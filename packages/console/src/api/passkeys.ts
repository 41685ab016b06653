import type { BodyOf, Me, Passkey } from '@penstock/wire'
import { anonymous, client } from './session.ts'

/** Passkeys: the service says what it asks for, and the browser answers in the same JSON forms. */

/** Whether this browser can use passkeys on this page: it wants https, or this machine. */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential

/** The person closed the dialog of the browser, or took too long. */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')

/** The page was opened under another host than the one that passkeys are of. */
export const isOfOtherHost = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'SecurityError'

/** This device has a passkey of the person already. */
export const isRegistered = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'InvalidStateError'

/** Makes a passkey on this device, and registers it for the person who is signed in. */
export async function registerPasskey(name: string): Promise<Passkey> {
  const { reply: options } = await client.startPasskeyRegistration()
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  )
  const response = jsonOf<BodyOf<'registerPasskey'>['response']>(await navigator.credentials.create({ publicKey }))
  return (await client.registerPasskey({ body: { name, response } })).reply
}

/** Signs in with a passkey that the person picks. */
export async function signInWithPasskey(link: string | undefined): Promise<Me> {
  const { reply: options } = await anonymous.startPasskeySignIn()
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  )
  const response = jsonOf<BodyOf<'signInWithPasskey'>['response']>(await navigator.credentials.get({ publicKey }))
  return (await anonymous.signInWithPasskey({ body: { response, ...(link && { link }) } })).reply
}

/** The browser's credential, in the form of the operation. */
function jsonOf<T>(credential: Credential | null): T {
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('', 'NotAllowedError')
  return credential.toJSON() as T
}
