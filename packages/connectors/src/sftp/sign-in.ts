import { number, select, text } from '@penstock/connector'

/** Which server, and who signs in to it. @param secrets those that the connector signs in with */
export const server = (secrets: readonly string[]) => ({
  hostname: text({
    label: 'Hostname',
    description: 'Name or IP address of the server',
    required: true,
    binds: secrets,
  }),
  port: number({
    label: 'Port',
    description: 'Port on which the server listens',
    required: true,
    default: 22,
    min: 1,
    max: 65535,
    binds: secrets,
  }),
  username: text({ label: 'Username', description: 'User who signs in to the server', required: true }),
})

/** How the server proves who it is. @param secrets those that the connector signs in with */
export const hostKey = (secrets: readonly string[]) => ({
  hostKeyFingerprint: text({
    label: 'Host key fingerprint',
    description:
      'Fingerprint of the server’s key as ssh-keygen -lf prints it, SHA256: and Base64; several are separated by commas. A check without one shows the fingerprint of the key that the server has',
    binds: secrets,
  }),
  hostKeyCheck: select({
    label: 'Host key check',
    description:
      'Which key of the server is accepted where no fingerprint is set: none, or the first one and later no other',
    options: ['fingerprint', 'first-use'],
    default: 'fingerprint',
    binds: secrets,
  }),
})
