import { Combobox, InputBase, Popover, Text } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { memo, useId, useState } from 'react'
import { mapper as say } from '../../../strings/mapper.ts'
import type { MappingChoice } from '../mapping/mapping.ts'
import { focusField } from './focus.ts'
import type { Sources } from './shared.ts'
import { SourceMenu } from './source-menu.tsx'

/** Shows what fills a field, and opens the list of what can. */
export const SourceButton = memo(function SourceButton({
  record,
  label,
  entry,
  candidates,
  sources,
  isBlocked,
  describedBy,
  onPick,
}: {
  record: RecordDefinition
  label: string
  entry: MappingChoice | undefined
  candidates: readonly string[]
  sources: Sources
  /** Its choice is missing or invalid. */
  isBlocked: boolean
  describedBy?: string
  onPick: (choice: MappingChoice) => void
}) {
  const id = useId()
  const [opened, setOpened] = useState<'any' | 'value'>()
  const close = () => {
    setOpened(undefined)
    focusField(record.name)
  }
  return (
    <Popover
      opened={opened !== undefined}
      onChange={(next) => !next && close()}
      width={340}
      position="bottom-start"
      shadow="md"
      withRoles={false}
      trapFocus
    >
      <Popover.Target>
        <InputBase
          component="button"
          type="button"
          pointer
          role="combobox"
          size="sm"
          aria-label={say.source(label)}
          aria-haspopup="dialog"
          aria-expanded={opened !== undefined}
          aria-controls={opened === undefined ? undefined : id}
          aria-invalid={isBlocked || undefined}
          aria-describedby={describedBy}
          data-mapper-field={record.name}
          error={isBlocked}
          withErrorStyles={isBlocked}
          onClick={() => setOpened(opened === undefined ? 'any' : undefined)}
          onKeyDown={(event) => {
            if (event.key !== '=') return
            event.preventDefault()
            setOpened('value')
          }}
          rightSectionPointerEvents="none"
          rightSection={<Combobox.Chevron />}
        >
          <Text span inherit truncate display="block" {...(entry && entry.kind !== 'empty' ? {} : { c: 'dimmed' })}>
            {wordsOf(entry)}
          </Text>
        </InputBase>
      </Popover.Target>
      <Popover.Dropdown p={0} id={id} role="dialog" aria-label={say.pickTitle(label)}>
        {opened && (
          <SourceMenu
            record={record}
            label={label}
            entry={entry}
            candidates={candidates}
            sources={sources}
            only={opened === 'value' ? 'value' : undefined}
            onPick={(choice) => {
              close()
              onPick(choice)
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  )
})

function wordsOf(entry: MappingChoice | undefined): string {
  if (!entry || entry.kind === 'empty') return say.notMapped
  if (entry.kind === 'expression') return entry.expression || say.expression
  return entry.kind === 'column' ? entry.column : entry.value
}
