import { Anchor, Box, Text } from '@mantine/core'
import type { Reject } from '@penstock/wire'
import { useState } from 'react'
import { rejects as say } from '../../../strings/rejects.ts'
import classes from './rejects.module.css'

/** Columns that are shown before the others are asked for. */
const shownMax = 16

/** A rejected row by its columns: the faulty ones first, then the first ones, and all of them on request. */
export function RecordFields({
  reject: { record, edited },
  faulty,
}: {
  reject: Reject
  /** The columns with wrong values, as far as they are known. */
  faulty: readonly string[]
}) {
  const [isWhole, setWhole] = useState(false)
  const names = Object.keys(record)
  const ordered = [...faulty, ...names.filter((name) => !faulty.includes(name))]
  const shown = isWhole ? ordered : ordered.slice(0, shownMax)
  return (
    <>
      <dl className={classes.record}>
        {shown.map((name) => {
          const value = record[name] ?? null
          const now = edited ? (edited[name] ?? null) : value
          return (
            <div key={name} data-faulty={faulty.includes(name) || undefined}>
              <dt>{name}</dt>
              <dd>
                {now === value ? (
                  <Shown value={value} />
                ) : (
                  <>
                    <s>
                      <Shown value={value} />
                    </s>{' '}
                    <Shown value={now} />
                  </>
                )}
              </dd>
            </div>
          )
        })}
      </dl>
      {names.length > shownMax && (
        <Box mt="xs">
          <Anchor component="button" type="button" size="sm" onClick={() => setWhole(!isWhole)}>
            {isWhole ? say.showFewer : say.showAll(names.length)}
          </Anchor>
        </Box>
      )}
    </>
  )
}

/** A value of a row; an empty one as a word. */
export function Shown({ value }: { value: string | null | undefined }) {
  return value === null || value === undefined || value === '' ? (
    <Text span inherit c="dimmed">
      {say.empty}
    </Text>
  ) : isUnbroken(value) ? (
    <span className={classes.unbroken}>{value}</span>
  ) : (
    value
  )
}

/** Whether a value is like a date, a time or a number, which is read at one glance only in one line. */
const isUnbroken = (value: string): boolean => /^(?=.*\d)[\d\p{Sc}%.,:+\-/ TZ]{1,29}$/u.test(value)
