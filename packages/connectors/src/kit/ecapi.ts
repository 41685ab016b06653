/** Columns by which several destinations of conversions call the same fields of ECAPI: the event's ID, and who the person is. */
export const usualEcapiColumns = {
  event_id: 'id',
  email: 'user_data.email_address',
  phone: 'user_data.phone_numbers',
  first_name: 'user_data.address.first_name',
  last_name: 'user_data.address.last_name',
  gender: 'user_data.gender',
  city: 'user_data.address.city',
  state: 'user_data.address.state',
  zip: 'user_data.address.postal_code',
  country: 'user_data.address.country_code',
  external_id: 'user_data.customer_identifier',
  client_ip_address: 'user_data.event_ip_address',
  client_user_agent: 'user_data.event_user_agent',
} as const
