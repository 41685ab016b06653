import ssh2 from 'ssh2'

/** A key pair that `ssh2` can read: about one in some hundred that it generates is one that it refuses itself. */
export function makeSshKey(
  type: string,
  options: { readonly passphrase?: string; readonly [name: string]: unknown } = {},
) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync(type as 'rsa', options as never)
    if (!(ssh2.utils.parseKey(pair.private, options.passphrase) instanceof Error)) return pair
  }
}
