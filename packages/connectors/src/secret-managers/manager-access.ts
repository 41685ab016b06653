/** How secret managers are reached and signed in to: facts of the operator's settings. Files are read whenever they are needed. */

export type VaultAuth =
  | { readonly method: 'token'; readonly tokenFile: string }
  | { readonly method: 'approle'; readonly mount: string; readonly roleId: string; readonly secretIdFile: string }
  | { readonly method: 'kubernetes'; readonly mount: string; readonly role: string; readonly tokenFile: string }

/** The key/value engine, version 2, of a HashiCorp Vault or OpenBao. */
export type VaultAccess = {
  readonly type: 'vault'
  readonly address: string
  /** Where the engine is mounted: `secret`. */
  readonly mount: string
  readonly namespace: string | undefined
  readonly auth: VaultAuth
}

/** AWS Secrets Manager. */
export type AwsAccess = {
  readonly type: 'aws'
  readonly region: string
  readonly auth:
    | { readonly method: 'access-key'; readonly accessKeyId: string; readonly secretAccessKeyFile: string }
    | { readonly method: 'web-identity'; readonly roleArn: string; readonly tokenFile: string }
}

/** Google Secret Manager. */
export type GoogleAccess = {
  readonly type: 'google'
  readonly auth: { readonly method: 'service-account'; readonly keyFile: string }
}

/** Azure Key Vault: every vault of one tenant that the application may read. */
export type AzureAccess = {
  readonly type: 'azure'
  readonly tenantId: string
  readonly clientId: string
  readonly auth:
    | { readonly method: 'client-secret'; readonly clientSecretFile: string }
    | { readonly method: 'federated'; readonly tokenFile: string }
}

/** A secret manager of the deployment. */
export type ManagerAccess = VaultAccess | AwsAccess | GoogleAccess | AzureAccess

/** A secret manager that can be asked. */
export type OpenedManager = {
  /**
   * Reads the current version of a secret as text. A secret of several values is the text of a JSON object.
   * @param path as in a reference, for this kind of manager
   * @throws ConnectorError `secret_manager_unavailable`, `secret_not_found` or `secret_not_allowed`. Its message contains no
   *   part of a secret
   */
  read(path: string): Promise<string>
}
