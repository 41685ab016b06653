import { parseProxy } from './egress/proxy-address.ts'
import { type Fields, number, secret, select, text } from './fields.ts'

/**
 * Adds how the servers of a connector are reached: the same fields for every connector whose users choose its servers.
 * @param secrets the fields of a configuration
 * @param servers the fields that name servers; if it is empty, nothing is added
 * @throws if a server is not a field that binds the secrets that are sent to it
 */
export function withNetwork(secrets: Fields, servers: readonly string[] = []): Fields {
  const [server] = servers
  if (server === undefined) return secrets
  // Without TLS, the operator of the bastion can read everything that is sent through it.
  const sent = [...new Set(servers.flatMap((key) => secrets[key]?.binds ?? []))]
  if (sent.length === 0) throw new Error(`${servers.join()} names servers and must name in binds what is sent to them`)
  const when = { connectThrough: 'bastion' }
  const credentials = ['bastionPrivateKey', 'bastionPassphrase', 'bastionPassword']
  const fields: Fields = {
    connectThrough: select({
      label: 'Connect through',
      description: 'Reach the server directly, through an SSH server in its network, or through a proxy',
      options: ['direct', 'bastion', 'proxy'],
      labels: { direct: 'Direct connection', bastion: 'SSH bastion', proxy: 'Proxy' },
      default: 'direct',
      binds: sent,
    }),
    bastionHost: text({
      label: 'Bastion host',
      description: 'Name or IP address of the SSH server',
      required: true,
      when,
      binds: [...credentials, ...sent],
    }),
    bastionPort: number({
      keepsState: 'credential',
      label: 'Bastion port',
      description: 'Port of the SSH server',
      min: 1,
      max: 65_535,
      default: 22,
      when,
      binds: [...credentials, ...sent],
    }),
    bastionHostKey: text({
      keepsState: 'credential',
      label: 'Bastion host key',
      description: 'Fingerprints from ssh-keygen -lf, separated by commas. A check shows the current one',
      when,
      wrong: wrongFingerprint,
      // A private key proves who signs in and is never sent.
      binds: ['bastionPassword', ...sent],
      pins: {},
    }),
    bastionUser: text({
      keepsState: 'credential',
      label: 'Bastion user',
      description: 'User who signs in to the SSH server. It needs no shell, only the right to forward connections',
      required: true,
      when,
    }),
    bastionAuthentication: select({
      keepsState: 'credential',
      label: 'Bastion authentication',
      description: 'How this user signs in',
      options: ['private key', 'password'],
      labels: { 'private key': 'Private key', password: 'Password' },
      default: 'private key',
      when,
    }),
    bastionPrivateKey: secret({
      label: 'Bastion private key',
      description: 'Private key of this user, in OpenSSH or PEM format',
      required: true,
      when: { ...when, bastionAuthentication: 'private key' },
    }),
    bastionPassphrase: secret({
      label: 'Bastion key passphrase',
      description: 'Passphrase of the private key, if it is encrypted',
      when: { ...when, bastionAuthentication: 'private key' },
    }),
    bastionPassword: secret({
      label: 'Bastion password',
      description: 'Password of this user',
      required: true,
      when: { ...when, bastionAuthentication: 'password' },
    }),
    proxyAddress: text({
      keepsState: 'credential',
      label: 'Proxy address',
      description: 'Address of the proxy, such as http://proxy.example.com:3128 or socks5://proxy.example.com',
      required: true,
      when: { connectThrough: 'proxy' },
      wrong: wrongProxy,
      binds: ['proxyPassword', ...sent],
    }),
    proxyUser: text({
      keepsState: 'credential',
      label: 'Proxy user',
      description: 'User of the proxy, if it asks for one',
      when: { connectThrough: 'proxy' },
    }),
    proxyPassword: secret({
      label: 'Proxy password',
      description: 'Password of this user',
      when: { connectThrough: 'proxy' },
    }),
  }
  const isTarget = servers.some((key) => secrets[key]?.identity === 'target')
  return { ...secrets, ...(isTarget ? asTargets(fields) : fields) }
}

/** The same fields, of which a change of the way to a server requires `secrets:write` while an identity signs in there. */
const asTargets = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, field.binds ? { ...field, identity: 'target' } : field]),
  )

function wrongProxy(value: string): string | undefined {
  const proxy = parseProxy(value)
  if (!proxy) return 'must be an address that begins with http://, https:// or socks5://, without a path'
  return proxy.user || proxy.password ? 'contains a user or password: use the fields for them' : undefined
}

function wrongFingerprint(value: string): string | undefined {
  const parts = value.split(/[\s,]+/).filter(Boolean)
  const isFingerprint = (part: string) => /^(SHA256:)?[A-Za-z0-9+/]{43}=?$/i.test(part)
  return parts.length > 0 && parts.every(isFingerprint)
    ? undefined
    : 'must be a fingerprint such as SHA256:… that ssh-keygen -lf prints, with 43 characters behind the colon'
}
