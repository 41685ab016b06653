import { PasswordInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { limits } from '@penstock/wire'
import { session as say } from '../strings/session.ts'

/** A password to set, and what the service has against it. */
export function NewPassword({
  value,
  label = say.newPassword,
  error,
  onChange,
}: {
  value: string
  label?: string
  error?: string | undefined
  onChange: (password: string) => void
}) {
  return (
    <PasswordInput
      label={label}
      description={say.newPasswordHelp(limits.passwordLengthMin)}
      required
      autoComplete="new-password"
      minLength={limits.passwordLengthMin}
      maxLength={limits.passwordLengthMax}
      value={value}
      error={error}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': say.showPassword }}
    />
  )
}

/** Error of the service for one field of a body. */
export const errorOfField = (failure: unknown, field: string): string | undefined =>
  failure instanceof PenstockError ? failure.details.find((one) => one.field === `body.${field}`)?.message : undefined
