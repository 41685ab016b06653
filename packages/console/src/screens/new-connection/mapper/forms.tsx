import { ActionIcon, Button, Group, Text, TextInput } from '@mantine/core'
import { type Normalisation, normalisationFacts, normalisationGroups, normalisations } from '@penstock/wire'
import { IconCheck, IconCircleX, IconSearch, IconX } from '@tabler/icons-react'
import { Fragment, useState } from 'react'
import { viewOfPage } from '../../../api/view.ts'
import { useListKeys } from '../../../components/list-keys.ts'
import { count } from '../../../components/numbers.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { type ColumnChoice, type ExpressionChoice, writeMapping } from '../mapping/mapping.ts'
import { usePreview } from '../preview/use-preview.ts'
import { mappingField } from '../settings.ts'
import { useChecks } from './expression/checks.ts'
import classes from './forms.module.css'

/** All forms in which the values of a column can be sent, by group, next to what the active one makes of them. */
export function Forms({
  id,
  name,
  entry,
  onPick,
  onClose,
}: {
  id: string
  /** Of the column, as it is sent. */
  name: string
  entry: ColumnChoice | ExpressionChoice
  /** Undefined: the values stay as they are. */
  onPick: (form: Normalisation | undefined) => void
  onClose: () => void
}) {
  const [text, setText] = useState('')
  const searched = text.trim().toLowerCase()
  const isFound = (form: Normalisation) =>
    `${say.normalisation[form]}\n${normalisationFacts[form].group}`.toLowerCase().includes(searched)
  const groups = normalisationGroups
    .map((group) => ({
      group,
      forms: normalisations.filter((form) => normalisationFacts[form].group === group && isFound(form)),
    }))
    .filter(({ forms }) => forms.length > 0)
  const options = groups.flatMap(({ forms }) => forms)
  const { active, ...keys } = useListKeys(options, (picked) => picked && onPick(picked))
  const tried = useForms(entry)
  const fits = new Map(tried?.forms.map((one) => [one.form, one]))
  const shown = options[active] ?? entry.normalise
  return (
    <section
      id={id}
      aria-label={say.normaliseOf(name)}
      className={classes.root}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose()
      }}
    >
      <div className={classes.result}>
        <Text size="sm" fw={500}>
          {say.formResult}
        </Text>
        <Text size="xs" c="dimmed">
          {shown ? say.normalisation[shown] : say.asItIs}
        </Text>
        <ul aria-live="polite">
          {(tried?.values ?? []).map((value, at) => {
            const made = shown ? fits.get(shown)?.values[at] : value
            return (
              <li key={value}>
                <span>{value}</span>
                <span role="img" aria-label={say.becomes}>
                  →
                </span>
                {made === null || made === undefined ? (
                  <span className={classes.bad}>
                    <IconCircleX size={14} aria-hidden /> {say.doesNotFit}
                  </span>
                ) : (
                  <span>{made}</span>
                )}
              </li>
            )
          })}
        </ul>
        {tried?.values.length === 0 && (
          <Text size="sm" c="dimmed">
            {say.noValues}
          </Text>
        )}
      </div>
      <div className={classes.list}>
        <Group gap="xs" p="xs" wrap="nowrap">
          <TextInput
            {...keys.search}
            autoFocus
            flex={1}
            aria-label={say.searchForms(normalisations.length)}
            placeholder={say.searchForms(normalisations.length)}
            leftSectionPointerEvents="none"
            leftSection={<IconSearch size={16} aria-hidden />}
            value={text}
            onChange={({ currentTarget }) => {
              setText(currentTarget.value)
              keys.reset()
            }}
          />
          <Text size="xs" c="dimmed" className={classes.head}>
            {tried ? say.fitsOf(count(tried.records)) : ''}
          </Text>
          <ActionIcon variant="subtle" color="gray" aria-label={say.closeForms} onClick={onClose}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
        <div id={keys.listId} role="listbox" aria-label={say.normaliseOf(name)} className={classes.forms}>
          {groups.map(({ group, forms }) => (
            <Fragment key={group}>
              {/* biome-ignore lint/a11y/useSemanticElements: a group of options, not of a form */}
              <div role="group" aria-label={group}>
                <Text size="xs" fw={600} aria-hidden className={classes.group}>
                  {group}
                </Text>
                {forms.map((form) => {
                  const [from, to] = normalisationFacts[form].example
                  return (
                    // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
                    // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
                    <div
                      key={form}
                      {...keys.optionAt(options.indexOf(form))}
                      role="option"
                      aria-description={
                        fits.has(form)
                          ? say.formFits(fits.get(form)?.fits ?? 0, count(fits.get(form)?.fits ?? 0))
                          : undefined
                      }
                      aria-selected={form === entry.normalise}
                      className={classes.option}
                      onClick={() => onPick(form)}
                    >
                      <span className={classes.tick}>
                        {form === entry.normalise && <IconCheck size={16} aria-hidden />}
                      </span>
                      <span>{say.normalisation[form]}</span>
                      <span className={classes.example}>
                        {from.trim()} → <b>{to}</b>
                      </span>
                      <span aria-hidden className={classes.fits}>
                        {fits.get(form) ? count(fits.get(form)?.fits ?? 0) : ''}
                      </span>
                    </div>
                  )
                })}
              </div>
            </Fragment>
          ))}
        </div>
        {entry.normalise && (
          <Group p="xs">
            <Button size="compact-sm" variant="subtle" onClick={() => onPick(undefined)}>
              {say.asItIs}
            </Button>
          </Group>
        )}
      </div>
    </section>
  )
}

/** The field under which the values of a line are tried, whatever its own name is. */
const triedField = 'value'

/** The values of a line in each form; undefined while they are read, and if the source cannot be read. */
function useForms(entry: ColumnChoice | ExpressionChoice) {
  const { connection } = useChecks()
  const { normalise, hash, ...plain } = entry
  const isWhole = plain.kind === 'column' ? plain.column !== '' : plain.expression.trim() !== ''
  const mapping = writeMapping([{ field: triedField, entry: plain }])
  const query = usePreview(
    connection,
    {
      destConnectionConfig: { [mappingField]: mapping },
      partial: true,
      formsOf: triedField,
      view: viewOfPage,
    },
    isWhole,
  )
  return query.data?.reply.forms
}
