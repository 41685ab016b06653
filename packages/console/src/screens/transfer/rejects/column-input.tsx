import { Button, Group, Text, TextInput } from '@mantine/core'
import { limits } from '@penstock/wire'
import { rejects as sayRejects } from '../../../strings/rejects.ts'
import { isShortened } from './correction.ts'

const say = sayRejects.correct

/** The value of one column of a rejected row, with the value that was read. A value that is shown shortened cannot be corrected here. */
export function ColumnInput({
  column,
  read,
  value,
  isFirst,
  proposes,
  onChange,
}: {
  column: string
  read: string | null
  value: string | null
  /** Whether it gets the focus. */
  isFirst: boolean
  /** Whether usual values are offered. */
  proposes: boolean
  onChange: (value: string | null) => void
}) {
  const shortened = isShortened(read)
  const proposals = [
    ...(value !== null && value !== '' ? [{ label: say.useEmpty, value: null }] : []),
    ...(value !== read ? [{ label: say.useRead, value: read }] : []),
  ]
  return (
    <div>
      <TextInput
        label={column}
        value={value ?? ''}
        placeholder={sayRejects.empty}
        disabled={shortened}
        maxLength={limits.rejectEditLengthMax}
        // Without a text, the row has no value, unless it was read with an empty text.
        onChange={({ currentTarget: { value: text } }) => onChange(text === '' && read !== '' ? null : text)}
        {...(shortened && { description: say.shortened })}
        {...(!shortened && (proposes || value !== read) && { description: say.readAs(inWords(read)) })}
        {...(isFirst && { 'data-autofocus': true })}
      />
      {proposes && !shortened && proposals.length > 0 && (
        <Group gap="xs" mt={6}>
          <Text size="sm" c="dimmed">
            {say.use}
          </Text>
          {proposals.map((proposal) => (
            <Button
              key={proposal.label}
              variant="default"
              size="compact-sm"
              aria-label={say.proposal(proposal.label, column)}
              onClick={() => onChange(proposal.value)}
            >
              {proposal.label}
            </Button>
          ))}
        </Group>
      )}
    </div>
  )
}

const inWords = (value: string | null): string => (value === null ? say.noValue : value === '' ? say.emptyText : value)
