/** Parts of the function that encrypts OpenSSH keys. The package has no types. */
declare module 'bcrypt-pbkdf' {
  /** Bytes of a hash. */
  const HASHSIZE: number
  /** Writes the hash of two SHA-512 digests, a password's and a salt's, to `out`. It takes some milliseconds. */
  function hash(password: Uint8Array, salt: Uint8Array, out: Uint8Array): void
  const bcrypt: { readonly HASHSIZE: typeof HASHSIZE; readonly hash: typeof hash }
  export default bcrypt
}
