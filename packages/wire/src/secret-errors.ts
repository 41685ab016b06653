/** Errors of secrets and of sealed values, as a part of the errors of transfers. */
export const secretErrors = {
  secret_manager_unavailable: {
    action: 'retry',
    when: 'The secret manager that a secret refers to does not answer, or does not accept the sign-in of this service.',
    todo: 'Check that the secret manager is running and reachable. If it refuses the sign-in, ask your operator to correct the sign-in.',
  },
  secret_not_found: {
    action: 'reconfigure',
    when: 'The secret manager has no secret at the path of a reference, or the secret does not contain the key.',
    todo: 'Create the secret at that path, or correct the reference in the connector, then activate the connection.',
  },
  secret_not_allowed: {
    action: 'reconfigure',
    when: 'The sub-account may not use the path of a reference, or the secret manager does not let this service read it.',
    todo: 'Use a path that the sub-account may use, or ask your operator to allow the path, then activate the connection.',
  },
  stored_value_unreadable: {
    action: 'fail',
    when: 'A sealed value of the database, such as a checkpoint, a cursor or a secret, was altered, moved or truncated, is not sealed, or its key is not known.',
    todo: 'Ask your operator to restore the database from a backup, or save the secrets of the connector again; then start a new transfer.',
  },
} as const
