import {
  limits,
  type Operation,
  operations,
  type Scope,
  scopeNames,
  scopes,
  userRoleNames,
  userRoles,
} from '@penstock/wire'

/** `docs/access.md`: what the holder of a token can do. */
export function accessDocument(): string {
  return `<!-- Written from packages/wire/src/scopes.ts and operations/ by: npm run documents -->

# Access

Every request carries a token, and each operation requires one scope. A token has the scopes of the client credentials, the session or the role of the person to which it was issued. It is valid for all sub-accounts of the organization, or for some.

- Resources that you cannot access return 404 \`not_found\`, as if they did not exist. This applies to everything in another organization,
  and to every sub-account outside the limits of your token.
- If you lack the scope for an operation, the response is 403 \`forbidden\`; \`details\` names the missing scope. The scope is checked
  before anything is looked up, so the response does not reveal whether a resource exists.
- Lists, reports and their totals without \`accountId\` cover only your sub-accounts.
- You cannot grant permissions that you do not have. Credentials, sessions and people that you create have at most your scopes and your
  sub-accounts. You cannot rotate or revoke credentials, sessions and people with more.

## Client credentials

Give each program separate credentials, with only the scopes that it needs:

\`\`\`sh
curl -X POST http://127.0.0.1:8080/es/v2/clients -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "Nightly jobs", "scopes": ["connections:read", "transfers:read", "transfers:run"]}'
\`\`\`

The answer contains the \`clientId\` as \`id\`, and \`clientSecret\`, which is returned only this once. Without \`scopes\`, the credentials have all scopes, including
scopes of later versions. Without \`accountIds\`, they are valid for all sub-accounts, including later ones. They expire at \`expiresTime\`. As the operator, you can also run \`penstock client create --scope … --account … --expires …\`.

**Rotate** a secret with \`POST /clients/{id}/rotate\` or the command \`client rotate <clientId>\`: the new secret is valid immediately, and the
previous one for another \`overlapHours\` (default ${limits.rotationOverlapHoursDefault}, at most ${limits.rotationOverlapHoursMax}). With 0, the previous secret and its tokens
are refused immediately: use this if a secret has leaked.

**Revoke** credentials with \`DELETE /clients/{id}\`. Their tokens and sessions end in every process within seconds.

\`lastUsedTime\` is the time of the last token. Use it to find credentials that no program uses.

An organization has a limit for each resource, and a lower one for each sub-account, so that one sub-account cannot use the whole limit:

| Resource | Of an organization | Of a sub-account |
|---|---|---|
| credentials that are not revoked | ${limits.clientsMax.toLocaleString('en-US')} | ${limits.clientsOfAccountMax} |
| people | ${limits.usersMax.toLocaleString('en-US')} | ${limits.usersOfAccountMax.toLocaleString('en-US')} |
| connect links that can be used | ${limits.connectLinksMax.toLocaleString('en-US')} | ${limits.connectLinksOfAccountMax.toLocaleString('en-US')} |
| alert rules | ${limits.alertRulesMax.toLocaleString('en-US')} | ${limits.alertRulesOfAccountMax} |
| webhooks | ${limits.webhooksMax.toLocaleString('en-US')} | ${limits.webhooksOfSameMax} |

## OAuth 2.0

OAuth libraries and tools get the same tokens from \`POST /oauth/token\`, with the grant \`client_credentials\` of
[RFC 6749](https://www.rfc-editor.org/rfc/rfc6749#section-4.4). Send the credentials by HTTP Basic, or as \`client_id\` and \`client_secret\`
in the form:

\`\`\`sh
CLIENT=$(curl -X POST http://127.0.0.1:8080/es/v2/clients -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "Reports", "scopes": ["accounts:read", "reports:read"]}')
CLIENT_ID=$(node -p 'JSON.parse(process.argv[1]).response.id' "$CLIENT")
CLIENT_SECRET=$(node -p 'JSON.parse(process.argv[1]).response.clientSecret' "$CLIENT")

curl http://127.0.0.1:8080/oauth/token -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials
# {"access_token":"pst_…","token_type":"Bearer","expires_in":86400,"scope":"accounts:read reports:read"}
curl http://127.0.0.1:8080/oauth/token -d grant_type=client_credentials -d "client_id=$CLIENT_ID" -d "client_secret=$CLIENT_SECRET" \\
  -d scope=reports:read
# {"access_token":"pst_…","token_type":"Bearer","expires_in":86400,"scope":"reports:read"}
\`\`\`

- \`scope\` limits the token to some scopes of the client, with spaces between them. A scope that the client does not have is refused
  with \`invalid_scope\`.
- Errors have the format of RFC 6749 instead of the envelope: \`error\` and \`error_description\`. After 429 and 503
  (\`temporarily_unavailable\`) you can retry after the seconds in \`Retry-After\`.
- The requests are limited and recorded in the [audit log](audit.md) like requests of \`createToken\`.

Libraries find the address in the metadata of the server ([RFC 8414](https://www.rfc-editor.org/rfc/rfc8414)). The issuer is the public URL:

\`\`\`sh
curl http://127.0.0.1:8080/.well-known/oauth-authorization-server
# {"issuer":"http://127.0.0.1:8080",…"token_endpoint":"http://127.0.0.1:8080/oauth/token",…
\`\`\`

If the public URL has a path, such as \`https://example.com/tools\`, libraries look at
\`https://example.com/.well-known/oauth-authorization-server/tools\`: configure your proxy to forward this address unchanged. There is no authorization code grant, because Penstock does
not sign people in to other applications.

## Sessions for your customers

To let the browser of your customer call the API, your back end creates a session for their sub-account, and hands over the token:

\`\`\`sh
curl -X POST http://127.0.0.1:8080/es/v2/sessions -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"accountId": "3f9c2b7a10d4e856", "scopes": ["connectors:read", "connectors:write", "secrets:write"], "expiry": 900}'
\`\`\`

The token is only valid for that sub-account, for ${limits.sessionSecondsMin} seconds to ${limits.sessionSecondsMax / 3600} hours. It ends with the credentials that created it, cannot create
credentials or sessions, and has a separate request limit. Allow the origin of your pages with \`PENSTOCK_CORS_ORIGINS\`.

## Scopes

| Scope | Allows you to | Operations |
|---|---|---|
${scopeNames.map((scope) => `| \`${scope}\` | ${scopes[scope].replace(/^\w/, (first) => first.toLowerCase())} | ${operationsOf(scope)} |`).join('\n')}

Some operations have further requirements:

- \`setSingleSignOn\`, \`deleteSingleSignOn\`, \`setSignInRules\`: only owners, and client credentials without limits on scopes and sub-accounts, can
  call them, because a caller could then sign in as any person of the organization.
- \`configureConnector\`: requires \`secrets:write\` to save or clear a secret.
- Connections, transfers and previews: require \`secrets:write\` to change a setting that determines where a secret is sent, such as the subdomain of
  Marketing Cloud.
- \`createWebhook\`, \`updateWebhook\`, \`replayWebhook\`, \`replayWebhookDelivery\`, \`getWebhookDelivery\`: require the read scope of the
  [events](webhooks.md#events).
- \`createAlertRule\`, and \`updateAlertRule\` if it adds messages or recipients: require \`alerts:read\`.

## Roles

People have a role, which is a set of scopes, in all sub-accounts or in some.

| Scope | ${userRoleNames.join(' | ')} |
|---|${userRoleNames.map(() => '---|').join('')}
${scopeNames.map((scope) => `| \`${scope}\` | ${userRoleNames.map((role) => ((userRoles[role] as readonly Scope[]).includes(scope) ? 'yes' : '')).join(' | ')} |`).join('\n')}
`
}

const operationsOf = (wanted: Scope): string =>
  Object.entries<Operation>(operations)
    .filter(([, { scope }]) => scope === wanted)
    .map(([id]) => `\`${id}\``)
    .join(', ') || '[SCIM](scim.md)'
