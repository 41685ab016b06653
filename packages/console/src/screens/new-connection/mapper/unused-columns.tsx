import { Card, Group, Popover, Text, TextInput, Title } from '@mantine/core'
import type { RecordDefinition } from '@penstock/wire'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { memo, useDeferredValue, useMemo, useState } from 'react'
import { count } from '../../../components/numbers.ts'
import { useFirst } from '../../../components/use-first.tsx'
import { mapper as say } from '../../../strings/mapper.ts'
import { FieldMenu } from './field-menu.tsx'
import classes from './mapper.module.css'
import { type OnSet, type Sources, sampleOf } from './shared.ts'

const shownMax = 50

/** Columns that fill no field, with some of their values; each can be used for a field. */
export const UnusedColumns = memo(function UnusedColumns({
  unused,
  sources,
  open,
  onSet,
}: {
  unused: readonly string[]
  sources: Sources
  /** Fields that nothing fills. */
  open: readonly RecordDefinition[]
  onSet: OnSet
}) {
  const [text, setText] = useState('')
  const searched = useDeferredValue(text.trim().toLowerCase())
  const all = useMemo(
    () => unused.map((column) => ({ column, sample: sampleOf(sources.samples, column) })),
    [unused, sources.samples],
  )
  const found = useMemo(
    () => all.filter(({ column, sample }) => `${column}\n${sample}`.toLowerCase().includes(searched)),
    [all, searched],
  )
  const { shown, more } = useFirst(found, shownMax)
  return (
    <Card withBorder padding={0} component="section" aria-label={say.unused} className={classes.beside ?? ''}>
      <Group justify="space-between" px="md" pt="sm">
        <Title order={2} size="h6">
          {say.unused}
        </Title>
        <Text size="sm" c="dimmed" className="figures">
          {count(unused.length)}
        </Text>
      </Group>
      {unused.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {say.noUnused}
        </Text>
      ) : (
        <>
          <TextInput
            px="md"
            py="xs"
            size="sm"
            aria-label={say.searchUnused}
            placeholder={say.searchUnused}
            leftSectionPointerEvents="none"
            leftSection={<IconSearch size={16} aria-hidden />}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          {found.length === 0 && (
            <Text size="sm" c="dimmed" px="md" pb="md" role="status">
              {say.noUnusedFound}
            </Text>
          )}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too */}
          <ul className={classes.unused} tabIndex={0} aria-label={say.unused}>
            {shown.map(({ column, sample }) => (
              <Unused key={column} column={column} sample={sample} open={open} onSet={onSet} />
            ))}
          </ul>
          {more && (
            <Group px="md" py="xs">
              {more}
            </Group>
          )}
        </>
      )}
    </Card>
  )
})

/** Plain elements: there are many, and they are drawn again with each letter of a search. */
const Unused = memo(function Unused({
  column,
  sample,
  open,
  onSet,
}: {
  column: string
  sample: string
  open: readonly RecordDefinition[]
  onSet: OnSet
}) {
  const [opened, setOpened] = useState(false)
  const button = (
    <button
      type="button"
      className={classes.add}
      aria-label={say.useFor(column)}
      aria-haspopup="dialog"
      aria-expanded={opened}
      onClick={() => setOpened(!opened)}
    >
      <IconPlus size={16} aria-hidden />
    </button>
  )
  return (
    <li>
      <div className={classes.column}>
        <span title={column}>{column}</span>
        <span className={classes.sample}>{sample || say.emptyValue}</span>
      </div>
      {opened ? (
        <Popover
          opened
          onChange={setOpened}
          width={300}
          position="bottom-end"
          shadow="md"
          withRoles={false}
          trapFocus
          returnFocus
        >
          <Popover.Target>{button}</Popover.Target>
          <Popover.Dropdown p={0} role="dialog" aria-label={say.fieldsFor(column)}>
            <FieldMenu
              column={column}
              open={open}
              onPick={(field) => {
                setOpened(false)
                onSet(field, { kind: 'column', column })
              }}
            />
          </Popover.Dropdown>
        </Popover>
      ) : (
        button
      )}
    </li>
  )
})
