import { operation } from '../operation.ts'
import { page, q } from '../parameters.ts'
import {
  AcceptInvitation,
  Done,
  GetInvitation,
  Invitation,
  InvitedUser,
  InviteUser,
  Me,
  PasswordReset,
  PasswordResetRequested,
  RequestPasswordReset,
  ResetPassword,
  UpdateUser,
  User,
} from '../schemas.ts'
import { Type } from '../type.ts'

/** The people of an organization, invitations and forgotten passwords. */
export const users = {
  listUsers: operation({
    tag: 'Users',
    summary: 'List people',
    description:
      'Lists the people of the organization, including invited people, by e-mail address. If you are limited to sub-accounts, you see only people with the same or fewer sub-accounts.',
    actsIn: 'organization',
    scope: 'users:read',
    query: { q: Type.Optional(q), ...page },
    reply: User,
    list: 'paged',
    done: 'Users listed',
  }),
  getUser: operation({
    tag: 'Users',
    summary: 'Get a person',
    description: 'Returns one person of the organization.',
    actsIn: 'organization',
    scope: 'users:read',
    reply: User,
    done: 'User found',
  }),
  inviteUser: operation({
    tag: 'Users',
    summary: 'Invite a person',
    description:
      'Invites a person with a role for all sub-accounts, or for the given ones. You cannot grant permissions that you do not have, and only owners can invite owners. The link is returned once, and also mailed if the operator has set up a mail server.',
    actsIn: 'organization',
    scope: 'users:write',
    body: InviteUser,
    reply: InvitedUser,
    success: 201,
    unrepeatable: true,
    done: 'User invited',
    refusals: ['user_exists', 'quota_exceeded'],
  }),
  resendInvitation: operation({
    tag: 'Users',
    summary: 'Resend an invitation',
    description:
      'Returns and mails a new link for a person who has not accepted yet. The previous link is no longer valid.',
    actsIn: 'organization',
    scope: 'users:write',
    reply: InvitedUser,
    unrepeatable: true,
    done: 'Invitation resent',
    refusals: ['user_joined'],
  }),
  updateUser: operation({
    tag: 'Users',
    summary: 'Change the permissions of a person',
    description:
      'Sets the role of a person and their sub-accounts, immediately in all their sessions. You cannot change yourself, and cannot grant permissions that you do not have. Only owners can create and change owners.',
    actsIn: 'organization',
    scope: 'users:write',
    body: UpdateUser,
    reply: User,
    done: 'User updated',
    refusals: ['last_owner'],
  }),
  removeUser: operation({
    tag: 'Users',
    summary: 'Remove a person',
    description: 'Removes a person with their sessions and links immediately. Resources that they created stay.',
    actsIn: 'organization',
    scope: 'users:write',
    reply: Done,
    done: 'User removed',
    refusals: ['last_owner'],
  }),
  getInvitation: operation({
    tag: 'Users',
    summary: 'Get an invitation',
    description:
      'Returns an invitation by the token of its link, and does not use it up. It is a POST, so that the token is in no address.',
    actsIn: 'public',
    body: GetInvitation,
    reply: Invitation,
    done: 'Invitation found',
    refusals: ['link_invalid', 'rate_limited'],
  }),
  acceptInvitation: operation({
    tag: 'Users',
    summary: 'Accept an invitation',
    description: 'Sets the name and the password of an invited person, and signs them in. The link can be used once.',
    actsIn: 'public',
    body: AcceptInvitation,
    reply: Me,
    done: 'Invitation accepted',
    refusals: ['link_invalid', 'user_exists', 'rate_limited', 'single_sign_on_required'],
  }),
  requestPasswordReset: operation({
    tag: 'Users',
    summary: 'Request a link to reset a password',
    description:
      'Mails a link to set a new password, for each organization of the person. The response is the same whether or not the person exists.',
    actsIn: 'public',
    body: RequestPasswordReset,
    reply: PasswordResetRequested,
    done: 'Requested',
    refusals: ['rate_limited'],
  }),
  resetPassword: operation({
    tag: 'Users',
    summary: 'Reset a password',
    description:
      'Sets a new password with the token of a link, and ends all sessions of the person. The link can be used once.',
    actsIn: 'public',
    body: ResetPassword,
    reply: PasswordReset,
    done: 'Password reset',
    refusals: ['link_invalid', 'rate_limited'],
  }),
} as const
