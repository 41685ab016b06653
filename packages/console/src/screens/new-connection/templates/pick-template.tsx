import { Text, TextInput } from '@mantine/core'
import type { MappingTemplate } from '@penstock/wire'
import { limits } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useId, useState } from 'react'
import { useRead } from '../../../api/queries.ts'
import { Failure } from '../../../components/failure.tsx'
import classes from '../../../components/fields/picker.module.css'
import { useSearchText } from '../../../components/pick-found.tsx'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import type { TemplateTarget } from './shared.ts'

/** The templates for the destination, searched by the service. */
export function PickTemplate({
  target: { accountId, destConnectorId },
  onPick,
}: {
  target: TemplateTarget
  onPick: (template: MappingTemplate) => void
}) {
  const listId = useId()
  const { text, setText, query } = useSearchText()
  const [active, setActive] = useState(-1)
  const read = useRead('listMappingTemplates', { accountId, query: { ...query, destConnectorId } }, { keep: true })
  const found = read.data?.reply ?? []
  const optionId = (at: number) => `${listId}-${at}`
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      const from = active === -1 && step === -1 ? 0 : active
      const next = (from + step + found.length) % found.length
      setActive(next)
      document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
    }
    if (event.key !== 'Enter') return
    event.preventDefault()
    const chosen = found[active] ?? (found.length === 1 ? found[0] : undefined)
    if (chosen) onPick(chosen)
  }
  if (read.error) return <Failure error={read.error} onRetry={() => void read.refetch()} />
  return (
    <div>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={say.search}
        aria-autocomplete="list"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={active >= 0 && active < found.length ? optionId(active) : undefined}
        placeholder={say.search}
        autoComplete="off"
        spellCheck={false}
        maxLength={limits.filterLengthMax}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          setActive(-1)
        }}
        onKeyDown={press}
        leftSectionPointerEvents="none"
        leftSection={<IconSearch size={16} aria-hidden />}
        pb="xs"
      />
      <div id={listId} role="listbox" aria-label={say.list} className={classes.list}>
        {found.map((template, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
          <div
            key={template.id}
            id={optionId(at)}
            role="option"
            aria-selected={false}
            data-active={at === active || undefined}
            className={`${classes.row} ${classes.option}`}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(template)}
          >
            <Text size="sm" truncate flex={1} title={template.name}>
              {template.name}
            </Text>
            <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
              {[template.accountId === null && say.shared, say.fields(template.fields)].filter(Boolean).join(' · ')}
            </Text>
          </div>
        ))}
      </div>
      <div className={classes.foot} style={{ height: 'auto', minHeight: 34, whiteSpace: 'normal' }}>
        <Text size="xs" c="dimmed" role="status">
          {read.data && found.length === 0 && (query.q ? say.noneFound : say.none)}
          {found.length > 0 && found.length < (read.data?.total ?? 0) && say.more}
        </Text>
      </div>
    </div>
  )
}
