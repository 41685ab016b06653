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

/** `docs/access.md`: what the holder of a token may do. */
export function accessDocument(): string {
  return `<!-- Written from packages/wire/src/scopes.ts and operations.ts by: npm run documents -->

# Access

Every request carries a token, and each operation requires one scope. A token has the scopes of what it was issued to: client
credentials, a session, or a person by their role. It acts in all sub-accounts of the organization, or in some.

- Resources that you cannot access return 404 \`not_found\`, as if they did not exist. That holds for everything of another organization,
  and for every sub-account that your token is not limited to.
- What you may see and not do is answered with 403 \`forbidden\`; \`details\` names the scope that is missing. The scope is checked
  before anything is looked up, so the answer does not depend on what there is.
- Lists and reports without \`accountId\` contain your sub-accounts only, and so do their totals.
- You cannot grant permissions that you do not have. Credentials, sessions and people that you create have at most your scopes and your
  sub-accounts. You cannot rotate or revoke credentials, sessions and people with more.

## Client credentials

A program has credentials of its own, with what it needs and no more:

\`\`\`sh
curl -X POST http://127.0.0.1:8080/es/v2/clients -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "Nightly jobs", "scopes": ["connections:read", "transfers:read", "transfers:run"]}'
\`\`\`

The answer contains \`id\`, which is the \`clientId\`, and \`clientSecret\`, which no later answer contains. Without \`scopes\` they may do
everything, with the scopes of later versions; without \`accountIds\` they act in all sub-accounts, also in later
ones. \`expiresTime\` ends them. \`npx penstock client create --scope … --account … --expires …\` does the same for the operator.

**Rotate** a secret with \`POST /clients/{id}/rotate\` or \`npx penstock client rotate <clientId>\`: the new secret is valid at once, and the
present one for \`overlapHours\` more (${limits.rotationOverlapHoursDefault} unless you say otherwise, at most ${limits.rotationOverlapHoursMax}). With 0 it is refused at once, and so are its
tokens; do this where a secret has leaked.

**Revoke** credentials with \`DELETE /clients/{id}\`. Their tokens and sessions end in every process within seconds.

An organization has at most ${limits.clientsMax.toLocaleString('en-US')} credentials that are not revoked, of which ${limits.clientsOfAccountMax} can be limited to the same sub-account: no sub-account uses
up what all share. The same holds for people (${limits.usersMax.toLocaleString('en-US')}, ${limits.usersOfAccountMax.toLocaleString('en-US')} of a sub-account), connect links that can be used
(${limits.connectLinksMax.toLocaleString('en-US')}, ${limits.connectLinksOfAccountMax.toLocaleString('en-US')}), alert rules (${limits.alertRulesMax.toLocaleString('en-US')}, ${limits.alertRulesOfAccountMax}) and webhooks (${limits.webhooksMax.toLocaleString('en-US')}, ${limits.webhooksOfSameMax}).

\`lastUsedTime\` says when they last got a token, so that you find unused ones.

## OAuth 2.0

OAuth libraries and tools get the same tokens from \`POST /oauth/token\`, by the grant \`client_credentials\` of
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
- The requests are limited and recorded in the [audit log](audit.md) as those of \`createToken\`.

Libraries find the address in the metadata of the server ([RFC 8414](https://www.rfc-editor.org/rfc/rfc8414)). The issuer is the public URL:

\`\`\`sh
curl http://127.0.0.1:8080/.well-known/oauth-authorization-server
# {"issuer":"http://127.0.0.1:8080",…"token_endpoint":"http://127.0.0.1:8080/oauth/token",…
\`\`\`

If the public URL has a path, such as \`https://example.com/tools\`, libraries look at
\`https://example.com/.well-known/oauth-authorization-server/tools\`: have your proxy send this address to the service unchanged. There is no sign-in of
people for other applications, and so no authorization code.

## Sessions for your customers

To let the browser of your customer call the API, your back end creates a session for their sub-account, and hands over the token:

\`\`\`sh
curl -X POST http://127.0.0.1:8080/es/v2/sessions -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"accountId": "3f9c2b7a10d4e856", "scopes": ["connectors:read", "connectors:write", "secrets:write"], "expiry": 900}'
\`\`\`

The token acts in that sub-account only and lives ${limits.sessionSecondsMin} seconds to ${limits.sessionSecondsMax / 3600} hours. It ends with the credentials that created it, cannot create
credentials or sessions, and has a request limit of its own. Allow the origin of your pages with \`PENSTOCK_CORS_ORIGINS\`.

## Scopes

| Scope | Allows to | Operations |
|---|---|---|
${scopeNames.map((scope) => `| \`${scope}\` | ${scopes[scope].replace(/^\w/, (first) => first.toLowerCase())} | ${operationsOf(scope)} |`).join('\n')}

\`setSingleSignOn\`, \`deleteSingleSignOn\` and \`setSignInRules\` are for owners, and for client credentials that are limited to neither scopes
nor sub-accounts: who says how people sign in can become any of them.

\`configureConnector\` requires \`secrets:write\` as well if it saves or clears a secret. So does a connection, a transfer or a preview with another setting that decides
where a secret goes, such as the subdomain of Marketing Cloud. \`createWebhook\`,
\`updateWebhook\`, \`replayWebhook\`, \`replayWebhookDelivery\` and \`getWebhookDelivery\` require the scope that reads what the
[events](webhooks.md#events) are about as well. \`createAlertRule\`, and \`updateAlertRule\` if it has more sent, require \`alerts:read\`.

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
