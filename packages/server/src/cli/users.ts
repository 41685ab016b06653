import { limits, type UserRole, userRoleNames } from '@penstock/wire'
import { type Config, ConfigError } from '../config.ts'
import type { Logger } from '../log.ts'
import { allowPasswords, inviteOrReset, removePasskeys, removePerson, usersOf } from '../users/operator.ts'
import { print, printTable } from './print.ts'
import { withRuntime } from './runtime.ts'

/** The operator's commands about people. */

type Json = { json?: boolean }

const isRole = (text: string): text is UserRole => (userRoleNames as readonly string[]).includes(text)

export async function inviteUserCommand(
  config: Config,
  log: Logger,
  { organization, email, role = 'viewer', json }: Json & { organization: string; email: string; role?: string },
): Promise<void> {
  const fieldErrors: string[] = []
  if (!isRole(role)) fieldErrors.push(`The role ${role} does not exist. Choose one of ${userRoleNames.join(', ')}.`)
  if (email.length > limits.emailLengthMax || !/^[^\s@\p{Cc}<>,;"]+@[^\s@\p{Cc}<>,;"]+$/u.test(email)) {
    fieldErrors.push('--email must be an e-mail address, such as ada@example.com.')
  }
  if (fieldErrors.length > 0 || !isRole(role)) throw new ConfigError(fieldErrors)
  const made = await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => inviteOrReset(tx, { organizationId: organization, email, role }, config)),
  )
  const what = made.isReset
    ? `${email} is ${made.role} of the organization. This link sets another password; it is valid for ${limits.passwordResetMinutes} minutes, and can be used once:`
    : `${email} is invited as ${made.role}. This link sets the password; it is valid for ${limits.invitationDays} days, and can be used once:`
  print({ userId: made.id, email, role: made.role, link: made.link }, json, `${what}\n  ${made.link}`)
}

export async function listUsersCommand(
  config: Config,
  log: Logger,
  { organization, json }: Json & { organization?: string },
): Promise<void> {
  const rows = await withRuntime(config, log, ({ database }) => usersOf(database, organization ?? null))
  const list = rows.map(
    ({ id, email, name, organizationId, role, accountIds, joinedTime, deactivatedTime, lastSignedInTime }) => ({
      userId: id,
      email,
      name,
      organizationId,
      role,
      accountIds,
      joinedTime: joinedTime?.toISOString() ?? null,
      deactivatedTime: deactivatedTime?.toISOString() ?? null,
      lastSignedInTime: lastSignedInTime?.toISOString() ?? null,
    }),
  )
  printTable(list, json, 'There are no people.')
}

export async function removeUserCommand(config: Config, log: Logger, userId: string, { json }: Json): Promise<void> {
  await withRuntime(config, log, ({ database }) => database.transaction((tx) => removePerson(tx, userId)))
  print({ userId, removed: true }, json, `Person ${userId} is removed, with every session they had.`)
}

export async function removePasskeysCommand(
  config: Config,
  log: Logger,
  userId: string,
  { json }: Json,
): Promise<void> {
  const removed = await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => removePasskeys(tx, userId)),
  )
  const text = `${removed} passkeys of person ${userId} are removed, and every session has ended. They sign in with their password.`
  print({ userId, removed }, json, text)
}

export async function allowPasswordsCommand(
  config: Config,
  log: Logger,
  organizationId: string,
  { json }: Json,
): Promise<void> {
  const changed = await withRuntime(config, log, ({ database }) =>
    database.transaction((tx) => allowPasswords(tx, organizationId)),
  )
  const was = changed ? 'is enough again' : 'was enough already'
  print({ organizationId, changed }, json, `In organization ${organizationId} a password alone ${was} to sign in.`)
}
