import { generateKeyPairSync } from 'node:crypto'
import type { Values } from '@penstock/connector'

/** One side of a connection to a platform that repeats what it was sent: which connector, and with what. */
export type Side = {
  readonly slug: string
  readonly secrets: Values
  readonly settings: Values
  /** A row that a destination gets. */
  readonly row?: Readonly<Record<string, string | number>>
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
/** The key file of a service account of Google. */
export const jsonKey = JSON.stringify({
  type: 'service_account',
  project_id: 'example-project',
  private_key_id: 'f00dfeedf00dfeed',
  private_key: privateKey,
  client_email: 'loader@example-project.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
})
/** A private key of the curve P-256 in PEM. */
export const ecKey = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey
/** A secret with characters that every encoding changes. */
export const secret = (name: string) => `${name}/Zq7+w"X'9&<k>=\\4v%Tü8rPm2Lc6`
/** The account key of a storage account of Azure. */
export const accountKey = Buffer.from('an account key of 64 bytes '.padEnd(64, 'q7Zx9')).toString('base64')
/** Token that a platform issues if a connector requests one. */
export const issuedToken = 'ya29.issued-for-this-transfer-5b1e77c2'
/** The value of a row that must not be repeated. */
export const canary = 'canary7f3a91@example.com'

/** Settings of all sides on Amazon S3. */
export const s3 = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: secret('aws'), sessionToken: secret('session') }
/** Settings of all sides on Google's platforms for advertisers. */
export const google = { clientId: '1', clientSecret: secret('google'), refreshToken: secret('refresh') }
/** A row of a person. */
export const person = { email: canary, city: 'Paris' }
